// SPDX-License-Identifier: Apache-2.0
// A C++ program of many inlined functions, for symbols_agree.sh: only its debug information matters.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace shop {

template <typename T> struct pile {
  std::vector<T> items;
  void push(const T &item) { items.push_back(item); }
  T pop() {
    T item = items.back();
    items.pop_back();
    return item;
  }
};

struct ware {
  std::string name;
  double price;
  bool operator<(const ware &other) const { return price < other.price; }
};

static std::map<std::string, std::vector<ware>> parse(std::istream &in) {
  std::map<std::string, std::vector<ware>> shelves;
  std::string line;
  const std::regex form("([a-z]+) ([0-9]+) (\\w+)");
  while (std::getline(in, line)) {
    std::smatch found;
    if (!std::regex_match(line, found, form)) continue;
    shelves[found[1]].push_back({found[3], std::stod(found[2])});
  }
  for (auto &shelf : shelves) std::sort(shelf.second.begin(), shelf.second.end());
  return shelves;
}

class visitor {
public:
  virtual ~visitor() {}
  virtual void visit(const ware &) = 0;
};

class total : public visitor {
public:
  double sum = 0;
  void visit(const ware &item) override { sum += item.price; }
};

} // namespace shop

int main(int argc, char **argv) {
  std::stringstream in;
  for (int i = 0; i < 1000 * argc; i++) in << "abc " << i * 7 % 101 << " thing" << i << "\n";
  auto shelves = shop::parse(in);
  shop::total total;
  std::unordered_map<int, int> counts;
  std::set<std::string> names;
  for (auto &shelf : shelves)
    for (auto &ware : shelf.second) {
      total.visit(ware);
      counts[(int)ware.price]++;
      names.insert(ware.name);
    }
  shop::pile<std::string> pile;
  for (auto &name : names) pile.push(name);
  auto last = std::make_shared<std::string>(pile.pop());
  auto best = std::max_element(counts.begin(), counts.end(),
                               [](auto &a, auto &b) { return a.second < b.second; });
  std::cout << total.sum << ' ' << *last << ' ' << best->first << ' '
            << std::accumulate(argv[0], argv[0] + 2, 0) << '\n';
}
