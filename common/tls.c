/* SPDX-License-Identifier: Apache-2.0 */
/* The TLS settings are all here, so that daemon, command line and collector cannot differ.

   Trust depends only on the fleet's CA and the kind of certificate: a leaf must explicitly have the
   extended key usage of its end (OpenSSL alone would accept a certificate without any for both).
   Host names are not checked.

   Clocks: a board without a battery starts in 1970, another jumps ten years ahead, and both must
   still reach their collector to get the time. So a client uses its clock only if it is
   synchronized (NTP, as reported by the kernel) and not before a certain lower bound: this
   program's age, and the time of the last session known to the caller. Otherwise the client ignores
   "not yet valid", and checks expiry against the lower bound. So expiry is always checked: a
   certificate that had expired when the board last got the time is rejected. A client with a usable
   clock ignores nothing.

   Enrolment has no CA file yet. The token has the SHA-256 of the root, the server sends its chain
   with the root, and verification trusts only that root.

   While one CA replaces another, a server has a certificate under each. A client announces the CAs
   it can verify in its first message (certificate_authorities, TLS 1.3). The second certificate is
   for clients that announce the second CA, so it is in use long before the first is removed; the
   first is for all others. Two CAs with the same name cannot be distinguished that way: then the
   first certificate is used, which all clients know.

   Alerts are stored with the connection, because libevent consumes OpenSSL's error queue. */
#include "tls.h"
#include "clock.h"
#include "tls_words.h"

#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* 2024-01-01: this program did not exist before. A constant instead of the build date, so that
   builds are reproducible. */
#define CLOCK_PLAUSIBLE_SECONDS INT64_C(1704067200)

/* Only forward-secret AEAD suites below TLS 1.3. */
#define CIPHERS_TLS12 "ECDHE+AESGCM:ECDHE+CHACHA20"

enum {
  FINGERPRINT_BYTES = 32,
  CHAIN_DEPTH_MAX = 3,        /* leaf, at most two intermediates, root */
  CHAIN_BYTES_MAX = 16 << 10, /* the fleet's are 1 KiB each; longer chains are rejected unparsed */
  WEB_CHAIN_DEPTH_MAX = 9,
  WEB_CHAIN_BYTES_MAX = 100 << 10, /* OpenSSL's own */
  ALERT_FATAL = 2,
  /* The connection's note: the description plus one, and whether this end sent the alert. */
  NOTE_ALERT_MASK = (1 << 9) - 1,
  NOTE_SENT = 1 << 9,
};

/* The application's length-prefixed form of TLS_ALPN. */
static const unsigned char alpn_list[] = "\x0b" TLS_ALPN;
enum { ALPN_LIST_BYTES = sizeof alpn_list - 1 };
_Static_assert(ALPN_LIST_BYTES == 1 + 0x0b, "the prefix is the length of TLS_ALPN");

static int alert_slot = -1;       /* SSL: last fatal alert, plus one */
static int fingerprint_slot = -1; /* SSL_CTX: the pinned root */
static int earliest_slot = -1;    /* SSL_CTX of a client: seconds since 1970 */
static int second_slot = -1;      /* SSL_CTX of a server: its struct second */
static CRYPTO_ONCE slots_once = CRYPTO_ONCE_STATIC_INIT;

static void free_fingerprint(void *parent, void *data, CRYPTO_EX_DATA *all, int slot, long arg,
                             void *context) {
  (void)parent, (void)all, (void)slot, (void)arg, (void)context;
  OPENSSL_free(data);
}

/* A server's certificate for clients that know its second CA. */
struct second {
  X509 *ca, *certificate;
  EVP_PKEY *key;
};

static void free_second(void *parent, void *data, CRYPTO_EX_DATA *all, int slot, long arg,
                        void *context) {
  struct second *second = data;
  (void)parent, (void)all, (void)slot, (void)arg, (void)context;
  if (second == NULL) return;
  X509_free(second->ca);
  X509_free(second->certificate);
  EVP_PKEY_free(second->key);
  OPENSSL_free(second);
}

static void make_slots(void) {
  alert_slot = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  fingerprint_slot = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_fingerprint);
  earliest_slot = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  second_slot = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_second);
}

static void on_alert(const SSL *ssl, int where, int value) {
  if ((where & SSL_CB_ALERT) == 0 || value >> 8 != ALERT_FATAL) return;
  uintptr_t note = (uintptr_t)(value & 0xff) + 1;
  if ((where & SSL_CB_WRITE) != 0) note |= NOTE_SENT;
  if (SSL_get_ex_data(ssl, alert_slot) == NULL) /* the first alert is the cause */
    SSL_set_ex_data((SSL *)(uintptr_t)ssl, alert_slot, (void *)note);
}

/* A lower bound of the current time, from SSL's context. */
static time_t earliest_of(const SSL *ssl) {
  const SSL_CTX *context = ssl != NULL ? SSL_get_SSL_CTX(ssl) : NULL;
  uintptr_t told =
      context != NULL ? (uintptr_t)SSL_CTX_get_ex_data(context, earliest_slot) : (uintptr_t)0;
  return (int64_t)told > CLOCK_PLAUSIBLE_SECONDS ? (time_t)told : (time_t)CLOCK_PLAUSIBLE_SECONDS;
}

static bool is_clock_good(time_t earliest_now) {
  return clock_is_kept() && clock_walltime_ns() / NS_PER_SECOND >= (uint64_t)earliest_now;
}

/* Returns the remaining part of ERROR if the clock is not usable. */
static int judge_with_bad_clock(X509_STORE_CTX *store, int error, time_t earliest_now) {
  if (error != X509_V_ERR_CERT_NOT_YET_VALID && error != X509_V_ERR_CERT_HAS_EXPIRED &&
      error != X509_V_OK)
    return error;
  X509 *certificate = X509_STORE_CTX_get_current_cert(store);
  if (certificate && X509_cmp_time(X509_get0_notAfter(certificate), &earliest_now) < 0)
    return X509_V_ERR_CERT_HAS_EXPIRED;
  return X509_V_OK;
}

static bool has_usage(X509 *certificate, uint32_t usage) {
  return (X509_get_extension_flags(certificate) & EXFLAG_XKUSAGE) != 0 &&
         (X509_get_extended_key_usage(certificate) & usage) != 0;
}

/* Called by OpenSSL for each certificate of the chain, root first, and for each fault. */
static int on_verify(int is_ok, X509_STORE_CTX *store) {
  const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  bool is_server = ssl && SSL_is_server(ssl);
  int kept = X509_STORE_CTX_get_error(store);
  int error = is_ok ? X509_V_OK : kept;
  time_t earliest_now = earliest_of(ssl);
  if (!is_server && !is_clock_good(earliest_now))
    error = judge_with_bad_clock(store, error, earliest_now);
  X509 *certificate = X509_STORE_CTX_get_current_cert(store);
  if (error == X509_V_OK && X509_STORE_CTX_get_error_depth(store) == 0 && certificate &&
      !has_usage(certificate, is_server ? XKU_SSL_CLIENT : XKU_SSL_SERVER))
    error = X509_V_ERR_INVALID_PURPOSE;
  if (error != kept || !is_ok) X509_STORE_CTX_set_error(store, error);
  return error == X509_V_OK;
}

/* Returns the peer's certificate with the pinned fingerprint, or NULL. */
static X509 *find_pinned(STACK_OF(X509) * sent, const unsigned char *fingerprint) {
  for (int i = 0; i < sk_X509_num(sent); i++) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned len = 0;
    X509 *certificate = sk_X509_value(sent, i);
    if (X509_digest(certificate, EVP_sha256(), digest, &len) == 1 && len == FINGERPRINT_BYTES &&
        CRYPTO_memcmp(digest, fingerprint, FINGERPRINT_BYTES) == 0)
      return certificate;
  }
  return NULL;
}

/* Verifies the whole chain, trusting only the pinned root. */
static int on_verify_pinned(X509_STORE_CTX *store, void *context) {
  const SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  (void)context;
  const unsigned char *fingerprint = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), fingerprint_slot);
  X509 *root = find_pinned(X509_STORE_CTX_get0_untrusted(store), fingerprint);
  if (root == NULL) {
    X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
  }
  STACK_OF(X509) *trusted = sk_X509_new_null();
  if (trusted == NULL || sk_X509_push(trusted, root) == 0) {
    sk_X509_free(trusted);
    X509_STORE_CTX_set_error(store, X509_V_ERR_OUT_OF_MEM);
    return 0;
  }
  X509_STORE_CTX_set0_trusted_stack(store, trusted);
  int is_ok = X509_verify_cert(store) == 1;
  sk_X509_free(trusted);
  return is_ok;
}

static int on_alpn(SSL *ssl, const unsigned char **ret, unsigned char *ret_len,
                   const unsigned char *offered, unsigned offered_len, void *context) {
  (void)ssl, (void)context;
  unsigned char *chosen = NULL;
  if (SSL_select_next_proto(&chosen, ret_len, alpn_list, ALPN_LIST_BYTES, offered, offered_len) !=
      OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *ret = chosen;
  return SSL_TLSEXT_ERR_OK;
}

/* OpenSSL does not call on_alpn if a client offers no protocol at all. */
static int on_client_hello(SSL *ssl, int *ret_alert, void *context) {
  const unsigned char *data;
  size_t len;
  (void)context;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation, &data,
                                &len) == 1)
    return SSL_CLIENT_HELLO_SUCCESS;
  *ret_alert = SSL_AD_NO_APPLICATION_PROTOCOL;
  return SSL_CLIENT_HELLO_ERROR;
}

static SSL_CTX *new_context(const SSL_METHOD *method, char *error, size_t error_len) {
  ERR_clear_error();
  SSL_CTX *context =
      CRYPTO_THREAD_run_once(&slots_once, make_slots) == 1 ? SSL_CTX_new(method) : NULL;
  if (context == NULL || alert_slot < 0 || fingerprint_slot < 0 || earliest_slot < 0 ||
      second_slot < 0 || SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_cipher_list(context, CIPHERS_TLS12) != 1) {
    char why[128];
    tls_words_of_queue("out of memory", why, sizeof why);
    snprintf(error, error_len, "TLS: %s", why);
    SSL_CTX_free(context);
    return NULL;
  }
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS); /* saves 34 KiB an idle connection */
  SSL_CTX_set_verify_depth(context, CHAIN_DEPTH_MAX);
  SSL_CTX_set_max_cert_list(context, CHAIN_BYTES_MAX);
  SSL_CTX_set_info_callback(context, on_alert);
  return context;
}

static bool refuse_file(const char *what, const char *path, char *error, size_t error_len) {
  char why[128];
  tls_words_of_queue(errno ? strerror(errno) : "not usable", why, sizeof why);
  snprintf(error, error_len, "%s %s: %s", what, path, why);
  return false;
}

/* A key that others may read is not secret: an error here is the only chance that this is
   noticed. */
static bool is_private(const char *path, char *error, size_t error_len) {
  struct stat file;
  if (stat(path, &file) != 0 || (file.st_mode & (S_IRWXG | S_IRWXO)) == 0) return true;
  snprintf(error, error_len, "key %s: mode %04o lets others use it; chmod 600 it", path,
           (unsigned)file.st_mode & 07777U);
  return false;
}

static bool use_ca(SSL_CTX *context, const char *path, char *error, size_t error_len) {
  errno = 0;
  return SSL_CTX_load_verify_file(context, path) == 1 || refuse_file("CA", path, error, error_len);
}

static bool use_certificate(SSL_CTX *context, const struct tls_paths *paths, char *error,
                            size_t error_len) {
  errno = 0;
  if (SSL_CTX_use_certificate_chain_file(context, paths->certificate) != 1)
    return refuse_file("certificate", paths->certificate, error, error_len);
  if (!is_private(paths->key, error, error_len)) return false;
  errno = 0;
  if (SSL_CTX_use_PrivateKey_file(context, paths->key, SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_check_private_key(context) != 1)
    return refuse_file("key", paths->key, error, error_len);
  return true;
}

static bool names(const STACK_OF(X509_NAME) * list, const X509_NAME *name) {
  for (int i = 0; i < sk_X509_NAME_num(list); i++)
    if (X509_NAME_cmp(sk_X509_NAME_value(list, i), name) == 0) return true;
  return false;
}

/* Called by OpenSSL when it has read the client's first message. */
static int on_certificate(SSL *ssl, void *context) {
  const struct second *second = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), second_slot);
  (void)context;
  if (!names(SSL_get0_peer_CA_list(ssl), X509_get_subject_name(second->ca))) return 1;
  return SSL_use_cert_and_key(ssl, second->certificate, second->key, NULL, 1);
}

static X509 *read_certificate(const char *path) {
  BIO *file = BIO_new_file(path, "r");
  X509 *certificate = file ? PEM_read_bio_X509(file, NULL, NULL, NULL) : NULL;
  BIO_free(file);
  return certificate;
}

static EVP_PKEY *read_key(const char *path) {
  BIO *file = BIO_new_file(path, "r");
  EVP_PKEY *key = file ? PEM_read_bio_PrivateKey(file, NULL, NULL, NULL) : NULL;
  BIO_free(file);
  return key;
}

static bool use_second(SSL_CTX *context, const struct tls_paths *paths, char *error,
                       size_t error_len) {
  if (!is_private(paths->next_key, error, error_len) ||
      !use_ca(context, paths->next_ca, error, error_len))
    return false;
  struct second *second = OPENSSL_zalloc(sizeof *second);
  if (second == NULL || SSL_CTX_set_ex_data(context, second_slot, second) != 1) {
    OPENSSL_free(second);
    return refuse_file("certificate", paths->next_certificate, error, error_len);
  }
  errno = 0;
  second->ca = read_certificate(paths->next_ca);
  second->certificate = read_certificate(paths->next_certificate);
  second->key = read_key(paths->next_key);
  if (second->ca == NULL || second->certificate == NULL || second->key == NULL ||
      X509_check_private_key(second->certificate, second->key) != 1)
    return refuse_file("certificate", paths->next_certificate, error, error_len);
  X509 *first = read_certificate(paths->ca);
  if (first != NULL &&
      X509_NAME_cmp(X509_get_subject_name(first), X509_get_subject_name(second->ca)) != 0)
    SSL_CTX_set_cert_cb(context, on_certificate, NULL);
  X509_free(first);
  return true;
}

/* Announces the client's CAs to the server. An unreadable file is reported elsewhere. */
static void tell_ca(SSL_CTX *context, const char *path) {
  STACK_OF(X509_NAME) *list = SSL_load_client_CA_file(path);
  if (list != NULL) SSL_CTX_set0_CA_list(context, list);
  ERR_clear_error();
}

static bool set_client(SSL_CTX *context) {
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, on_verify);
  SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN); /* the collector has the root */
  return SSL_CTX_set_purpose(context, X509_PURPOSE_SSL_SERVER) == 1 &&
         SSL_CTX_set_alpn_protos(context, alpn_list, ALPN_LIST_BYTES) == 0;
}

SSL_CTX *tls_server_context(const struct tls_paths *paths, char *error, size_t error_len) {
  SSL_CTX *context = new_context(TLS_server_method(), error, error_len);
  if (context == NULL) return NULL;
  if (!use_ca(context, paths->ca, error, error_len) ||
      !use_certificate(context, paths, error, error_len) ||
      (paths->next_ca != NULL && !use_second(context, paths, error, error_len))) {
    SSL_CTX_free(context);
    return NULL;
  }
  if (SSL_CTX_set_purpose(context, X509_PURPOSE_SSL_CLIENT) != 1) {
    snprintf(error, error_len, "TLS: out of memory");
    SSL_CTX_free(context);
    return NULL;
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, on_verify);
  SSL_CTX_set_alpn_select_cb(context, on_alpn, NULL);
  SSL_CTX_set_client_hello_cb(context, on_client_hello, NULL);
  return context;
}

SSL_CTX *tls_client_context(const struct tls_paths *paths, char *error, size_t error_len) {
  SSL_CTX *context = new_context(TLS_client_method(), error, error_len);
  if (context == NULL) return NULL;
  bool has_files = use_ca(context, paths->ca, error, error_len) &&
                   (paths->certificate == NULL || paths->key == NULL ||
                    use_certificate(context, paths, error, error_len));
  void *earliest = (void *)(uintptr_t)paths->earliest_s;
  if (has_files) tell_ca(context, paths->ca);
  if (has_files && SSL_CTX_set_ex_data(context, earliest_slot, earliest) == 1 &&
      set_client(context))
    return context;
  if (has_files) snprintf(error, error_len, "TLS: out of memory");
  SSL_CTX_free(context);
  return NULL;
}

SSL_CTX *tls_enrol_context(const unsigned char fingerprint[32], char *error, size_t error_len) {
  SSL_CTX *context = new_context(TLS_client_method(), error, error_len);
  if (context == NULL) return NULL;
  unsigned char *kept = OPENSSL_memdup(fingerprint, FINGERPRINT_BYTES);
  if (kept == NULL || SSL_CTX_set_ex_data(context, fingerprint_slot, kept) != 1) {
    OPENSSL_free(kept);
  } else if (set_client(context)) {
    SSL_CTX_set_cert_verify_callback(context, on_verify_pinned, NULL);
    return context;
  }
  snprintf(error, error_len, "TLS: out of memory");
  SSL_CTX_free(context);
  return NULL;
}

SSL_CTX *tls_web_context(const char *ca, char *error, size_t error_len) {
  static const unsigned char http[] = "\x08http/1.1";
  SSL_CTX *context = new_context(TLS_client_method(), error, error_len);
  if (context == NULL) return NULL;
  bool has_roots = ca != NULL ? use_ca(context, ca, error, error_len)
                              : SSL_CTX_set_default_verify_paths(context) == 1;
  if (has_roots && SSL_CTX_set_purpose(context, X509_PURPOSE_SSL_SERVER) == 1 &&
      SSL_CTX_set_alpn_protos(context, http, sizeof http - 1) == 0) {
    SSL_CTX_set_verify_depth(context, WEB_CHAIN_DEPTH_MAX);
    SSL_CTX_set_max_cert_list(context, WEB_CHAIN_BYTES_MAX);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    return context;
  }
  if (ca == NULL || has_roots) snprintf(error, error_len, "TLS: out of memory");
  SSL_CTX_free(context);
  return NULL;
}

/* A name becomes a label, part of a log line and of a file name: no control bytes, no
   separators. */
static bool is_usable_name(const unsigned char *name, size_t len) {
  if (len == 0 || name[0] == '.') return false;
  for (size_t i = 0; i < len; i++) {
    if (name[i] < 0x20 || name[i] == 0x7f || name[i] == '/') return false;
    if (name[i] == 0xc2 && i + 1 < len && name[i + 1] < 0xa0) return false; /* U+0080 to U+009F */
  }
  return true;
}

int tls_peer_name(const SSL *ssl, char *name, size_t name_len) {
  X509 *certificate = SSL_get0_peer_certificate(ssl);
  if (certificate == NULL) return -ENOENT;
  if (SSL_get_verify_result(ssl) != X509_V_OK) return -EBADMSG;
  const X509_NAME *subject = X509_get_subject_name(certificate);
  int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0 || X509_NAME_get_index_by_NID(subject, NID_commonName, at) >= 0) return -EBADMSG;
  unsigned char *text = NULL;
  int len = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
  bool is_usable = len > 0 && (size_t)len < name_len && is_usable_name(text, (size_t)len);
  if (is_usable) {
    memcpy(name, text, (size_t)len);
    name[len] = '\0';
  }
  OPENSSL_free(text);
  return is_usable ? 0 : -EBADMSG;
}

/* True if the peer disconnected in a handshake: OpenSSL reports that as invalid data, and sends the
   alert decode_error. */
static bool is_peer_gone(void) {
  unsigned long error = ERR_peek_error();
  return ERR_GET_LIB(error) == ERR_LIB_SSL &&
         ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
}

void tls_failure(const SSL *ssl, char *why, size_t why_len) {
  int kept_errno = errno;
  long verified = SSL_get_verify_result(ssl);
  uintptr_t note = (uintptr_t)SSL_get_ex_data(ssl, alert_slot);
  int alert = (int)(note & NOTE_ALERT_MASK) - 1;
  if (is_peer_gone()) {
    snprintf(why, why_len, "the peer closed the connection");
  } else if (verified != X509_V_OK) {
    snprintf(why, why_len, "the peer's certificate: %s", tls_words_of_verification(verified));
  } else if (note != 0 && (note & NOTE_SENT) == 0) {
    snprintf(why, why_len, "the peer says: %s", tls_words_of_alert(alert));
  } else if (note != 0) {
    snprintf(why, why_len, "refused by us: %s", tls_words_of_alert(alert));
  } else {
    tls_words_of_queue(kept_errno ? strerror(kept_errno) : "the peer closed the connection", why,
                       why_len);
  }
  ERR_clear_error();
}
