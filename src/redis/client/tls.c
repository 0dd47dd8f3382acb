/* TLS for connections, with OpenSSL and hiredis_ssl.
 *
 * hiredis can create a TLS session, but never compares the name in the server's certificate with
 * the host, so it would accept any valid certificate. Therefore the session is created here, and
 * passed to hiredis. If the host is a numeric address, the certificate must contain it as an IP
 * address, and it is not sent as a server name.
 */
#include "redis/client/tls.h"

#include "redis/client/net.h"

#include <errno.h>
#include <hiredis.h>
#include <hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct blyi_tls {
    SSL_CTX *context;
    char *servername; /* the expected name; NULL: the host */
    bool insecure;
};

/* ---- the client ------------------------------------------------------------------------------ */

static bly_status tls_bad_file(const char *what, const char *file, bly_redis_reason *why) {
    bool refused;
    const unsigned long first = ERR_peek_error();
    const char *error = ERR_GET_LIB(first) == ERR_LIB_SYS ? strerror(ERR_GET_REASON(first))
                                                          : blyi_tls_last_error(&refused);
    blyi_reason_set(why, "%s: cannot be used as %s: %s", file, what,
                    error ? error : "it cannot be read");
    return BLY_EINVAL;
}

/* Without this callback, OpenSSL prompts at the terminal for the password of a private key. */
static int tls_no_password(char *text, int room, int writing, void *ctx) {
    (void)text;
    (void)room;
    (void)writing;
    (void)ctx;
    return -1;
}

static bly_status tls_load_files(SSL_CTX *context, const bly_redis_url *url,
                                 bly_redis_reason *why) {
    ERR_clear_error();
    SSL_CTX_set_default_passwd_cb(context, tls_no_password);
    if (!url->cacert)
        (void)SSL_CTX_set_default_verify_paths(context);
    else if (SSL_CTX_load_verify_locations(context, url->cacert, NULL) != 1)
        return tls_bad_file("a CA certificate", url->cacert, why);
    if (!url->cert)
        return BLY_OK;
    if (SSL_CTX_use_certificate_chain_file(context, url->cert) != 1)
        return tls_bad_file("the client certificate", url->cert, why);
    if (SSL_CTX_use_PrivateKey_file(context, url->certkey, SSL_FILETYPE_PEM) != 1)
        return tls_bad_file("the private key of the client certificate", url->certkey, why);
    return BLY_OK;
}

bly_status blyi_tls_create(const bly_redis_url *url, bly_redis_reason *why, blyi_tls **out) {
    blyi_tls *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return blyi_no_memory(why);
    t->insecure = url->insecure;
    t->servername = url->servername ? strdup(url->servername) : NULL;
    t->context = SSL_CTX_new(TLS_client_method());
    bly_status status =
        t->context && (t->servername || !url->servername) ? BLY_OK : blyi_no_memory(why);
    if (status == BLY_OK) {
        (void)SSL_CTX_set_min_proto_version(t->context, TLS1_2_VERSION);
        SSL_CTX_set_verify(t->context, url->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
        status = tls_load_files(t->context, url, why);
    }
    if (status)
        blyi_tls_destroy(t);
    else
        *out = t;
    return status;
}

void blyi_tls_destroy(blyi_tls *t) {
    if (!t)
        return;
    SSL_CTX_free(t->context);
    free(t->servername);
    free(t);
}

/* ---- the session ----------------------------------------------------------------------------- */

static SSL *tls_ssl(blyi_tls_session *s) {
    return (SSL *)(void *)s;
}

/* Sets the name or the IP address that the server's certificate must contain. */
static bool tls_expect_host(SSL *ssl, const blyi_tls *t, const char *host) {
    const char *name = t->servername ? t->servername : host;
    const bool numbers = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1;
    ERR_clear_error();
    if (numbers)
        return true;
    return SSL_set_tlsext_host_name(ssl, name) == 1 && SSL_set1_host(ssl, name) == 1;
}

/* Sets *out and errno to the reason of a failed handshake. */
static void tls_explain(const SSL *ssl, blyi_tls_error *out) {
    const long verdict = SSL_get_verify_result(ssl);
    bool refused;
    const char *last = blyi_tls_last_error(&refused);
    errno = EPROTO;
    if (verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH) {
        (void)snprintf(out->text, sizeof out->text,
                       "%s: the server's certificate is for another host; pass that host's name "
                       "with servername=NAME",
                       X509_verify_cert_error_string(verdict));
    } else if (verdict != X509_V_OK) {
        (void)snprintf(out->text, sizeof out->text, "%s; pass the CA certificate with cacert=FILE",
                       X509_verify_cert_error_string(verdict));
    } else if (last) {
        (void)snprintf(out->text, sizeof out->text, "%s", last);
    } else {
        (void)snprintf(out->text, sizeof out->text,
                       "the connection was closed during the handshake");
        errno = ECONNRESET;
    }
}

bly_status blyi_tls_start(blyi_tls *t, struct redisContext *c, const char *host,
                          blyi_tls_error *error, blyi_tls_session **out) {
    SSL *ssl = SSL_new(t->context);
    *out = NULL;
    if (!ssl || !tls_expect_host(ssl, t, host)) {
        SSL_free(ssl);
        return BLY_ENOMEM;
    }
    /* So that each record that is written counts as progress, which restarts the time limit. */
    (void)SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE);
    if (redisInitiateSSL(c, ssl) != REDIS_OK) {
        tls_explain(ssl, error);
        SSL_free(ssl);
        return BLY_EIO;
    }
    *out = (blyi_tls_session *)(void *)ssl;
    return BLY_OK;
}

bly_status blyi_tls_handshake(blyi_tls_session *s, blyi_tls_error *error, short *wait) {
    SSL *ssl = tls_ssl(s);
    *wait = 0;
    ERR_clear_error();
    const int result = SSL_do_handshake(ssl);
    if (result == 1)
        return BLY_OK;
    const int ssl_error = SSL_get_error(ssl, result);
    if (ssl_error == SSL_ERROR_WANT_READ)
        *wait = POLLIN;
    else if (ssl_error == SSL_ERROR_WANT_WRITE)
        *wait = POLLOUT;
    if (*wait)
        return BLY_OK;
    tls_explain(ssl, error);
    return BLY_EIO;
}

void blyi_tls_clear_errors(void) {
    ERR_clear_error();
}

const char *blyi_tls_last_error(bool *refused) {
    const unsigned long error = ERR_peek_last_error();
    const char *words = error ? ERR_reason_error_string(error) : NULL;
    *refused = words && ERR_GET_REASON(error) > SSL_AD_REASON_OFFSET;
    return words && !strstr(words, "unexpected eof") ? words : NULL;
}
