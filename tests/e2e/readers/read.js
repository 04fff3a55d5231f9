// SPDX-License-Identifier: Apache-2.0
// read.js PPROF SPEEDSCOPE FOLDED PERF_SCRIPT: opens them with speedscope's own importer, the first one
// with the decoder of pprof-format too, and prints, of each reader, all weight and each function's own:
// {reader: {total, self: {name: weight}}}.
//
// speedscope is published as one bundle for browsers.  What is asked of it is the module that it loads
// when a file is dropped on its page; the page around it finds a document that can do nothing.
'use strict'
const fs = require('fs')
const path = require('path')
const vm = require('vm')
const zlib = require('zlib')
const from = name => require(require.resolve(name, {paths: [process.cwd()]}))

function speedscope() {
  const release = path.join(process.cwd(), 'node_modules/speedscope/dist/release')
  const bundle = fs.readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name))
  const text = fs.readFileSync(path.join(release, bundle), 'utf8')
  const table = /([\w$]+)=\{\};[\w$]+\(\1,\{importFromFileSystemDirectoryEntry:/.exec(text)[1]
  const load = text.split(`(),${table})`)[0].match(/[\w$]+$/)[0]
  const nothing = new Proxy(function () {}, {
    get: (_, key) => (key === Symbol.toPrimitive ? () => '' : nothing),
    apply: () => nothing, construct: () => nothing, set: () => true, has: () => true,
  })
  const page = {document: nothing, navigator: {}, location: {hash: ''}, requestAnimationFrame: () => 0,
    URLSearchParams, TextDecoder, TextEncoder, setTimeout, performance, Uint8Array,
    console: {log() {}, warn() {}, error() {}}}
  page.window = page.self = page
  vm.createContext(page)
  const opening = '"use strict";(()=>{'
  if (!text.startsWith(opening)) throw new Error('the bundle begins otherwise')
  try {
    vm.runInContext(`${opening}globalThis.importer=()=>(${load}(),${table});${text.slice(opening.length)}`, page)
  } catch (_) {} // it cannot draw
  return page.importer()
}

function sums_of_speedscope(group) {
  const self = {}
  const profile = group.profiles[0]
  profile.forEachFrame(frame => { self[frame.name] = (self[frame.name] || 0) + frame.getSelfWeight() })
  return {total: profile.getTotalWeight(), self, unit: profile.getWeightUnit(), profiles: group.profiles.length}
}

function sums_of_pprof(bytes) {
  const {Profile} = from('pprof-format')
  const profile = Profile.decode(zlib.gunzipSync(bytes))
  const text = at => profile.stringTable.strings[Number(at)]
  const by_id = rows => new Map(rows.map(row => [Number(row.id), row]))
  const locations = by_id(profile.location), functions = by_id(profile.function)
  const column = profile.sampleType.findIndex(type => text(type.type) === 'cpu' && text(type.unit) === 'nanoseconds')
  const self = {}
  let total = 0
  for (const sample of profile.sample) {
    const leaf = locations.get(Number(sample.locationId[0])).line[0]
    const name = text(functions.get(Number(leaf.functionId)).name)
    self[name] = (self[name] || 0) + Number(sample.value[column])
    total += Number(sample.value[column])
  }
  return {total, self}
}

async function main([pprof, ...others]) {
  const importer = speedscope()
  const bytes = fs.readFileSync(pprof)
  const got = {'pprof-format': sums_of_pprof(bytes)}
  const open = async name => {
    const raw = fs.readFileSync(name)
    const array = new Uint8Array(raw).buffer
    return sums_of_speedscope(await importer.importProfilesFromArrayBuffer(path.basename(name), array))
  }
  for (const name of [pprof, ...others]) got[`speedscope, ${path.basename(name)}`] = await open(name)
  console.log(JSON.stringify(got))
}

main(process.argv.slice(2)).catch(error => { console.error(error); process.exit(1) })
