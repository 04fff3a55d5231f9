/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers of the route table. Each fills REQUEST->answer on the thread that its route
   names. */
#ifndef HTTP_API_H
#define HTTP_API_H

struct request;

void api_boards(struct request *request);
void api_loss(struct request *request);
void api_labels(struct request *request);
void api_label_values(struct request *request);
void api_profile(struct request *request);
void api_diff(struct request *request);
void api_callers(struct request *request);
void api_callees(struct request *request);
void api_function(struct request *request);
void api_load(struct request *request);
void api_series(struct request *request);
void api_debug_list(struct request *request);
void api_debug_files(struct request *request);
void api_debug_head(struct request *request);
void api_debug_put(struct request *request);
void api_sources_list(struct request *request);
void api_sources_head(struct request *request);
void api_sources_put(struct request *request);
void api_buildid(struct request *request);
void api_healthz(struct request *request);
void api_readyz(struct request *request);
void api_metrics(struct request *request);
void api_openapi(struct request *request);
void api_asset(struct request *request);

#endif
