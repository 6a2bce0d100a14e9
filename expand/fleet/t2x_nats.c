/* SPDX-License-Identifier: MIT */
/* t2x_nats.c - see t2x_nats.h. */
#include "t2x_nats.h"

#include <string.h>

#define BLOCKS "t2.blocks."

const char *t2x_nats_host(const char *subject)
{
	return strncmp(subject, BLOCKS, sizeof(BLOCKS) - 1) ? NULL : subject + sizeof(BLOCKS) - 1;
}

#ifdef T2X_HAS_NATS

#include <dlfcn.h>
#include <nats/nats.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define STREAM "T2"
#define CONSUMER "collect"
#define SECOND_NS INT64_C(1000000000)

enum { AWAY_MS = 1000, MAX_SERVERS = 16, MAX_PENDING = 256, REQUEST_MS = 3000, PENDING_BYTES = 64 * 1024 * 1024 };

/* What of the library is used, found when it is loaded. */
#define FUNCTIONS(do) \
	do(natsStatus_GetText) do(natsOptions_Create) do(natsOptions_Destroy) do(natsOptions_SetServers) \
	do(natsOptions_SetName) do(natsOptions_SetMaxReconnect) do(natsOptions_SetReconnectWait) \
	do(natsOptions_SetRetryOnFailedConnect) do(natsOptions_SetTimeout) do(natsOptions_SetPingInterval) \
	do(natsOptions_SetCustomInboxPrefix) do(natsOptions_SetUserCredentialsFromFiles) \
	do(natsOptions_SetNKeyFromSeed) do(natsOptions_SetSecure) do(natsOptions_LoadCATrustedCertificates) \
	do(natsOptions_LoadCertificatesChain) do(natsOptions_SetErrorHandler) do(natsOptions_SetMaxPingsOut) \
	do(natsConnection_Connect) do(natsConnection_Destroy) do(natsConnection_Status) do(natsConnection_JetStream) \
	do(natsConnection_SubscribeSync) do(natsConnection_Publish) do(natsConnection_FlushTimeout) \
	do(natsSubscription_NextMsg) do(natsSubscription_Destroy) do(natsSubscription_Fetch) do(natsMsg_Create) \
	do(natsMsg_Destroy) do(natsMsg_GetSubject) do(natsMsg_GetData) do(natsMsg_GetDataLength) do(natsMsg_Ack) \
	do(natsMsg_NakWithDelay) do(natsMsg_Term) do(natsMsg_GetMetaData) do(jsMsgMetaData_Destroy) \
	do(jsOptions_Init) do(jsPubOptions_Init) do(jsStreamConfig_Init) do(jsSubOptions_Init) do(jsCtx_Destroy) \
	do(js_AddStream) do(js_GetStreamInfo) do(jsStreamInfo_Destroy) do(js_PullSubscribe) do(js_PublishMsgAsync) \
	do(natsMsgList_Destroy) do(natsSubscription_SetPendingLimits)
static struct {
#define DECLARE(name) __typeof__(&name) name;
	FUNCTIONS(DECLARE)
#undef DECLARE
} library;

struct t2x_nats {
	natsConnection *connection;
	jsCtx *js;
	natsSubscription *receipts, *blocks;
	pthread_mutex_t lock;             /* of trouble, which threads of the library write */
	char trouble[160];
	char why[512];
	char servers[256];
	uint64_t away_ms;                 /* since when; 0: they are there */
	int is_told;
};

static int load(void)
{
	void *handle = dlopen("libnats.so.3.4", RTLD_NOW | RTLD_LOCAL);
	int is_complete = handle != NULL;

	if (!handle)
		return 0;
#define FIND(name) \
	*(void **)&library.name = dlsym(handle, #name); \
	is_complete &= library.name != NULL;
	FUNCTIONS(FIND)
#undef FIND
	return is_complete;
}

/* ---- connecting --------------------------------------------------------------------------------- */

static natsStatus set_servers(natsOptions *options, const char *urls)
{
	char *copy = strdup(urls), *rest = copy, *url;
	const char *list[MAX_SERVERS];
	natsStatus status = copy ? NATS_OK : NATS_NO_MEMORY;
	int n = 0;

	while (copy && n < MAX_SERVERS && (url = strsep(&rest, ",")))
		if (*url)
			list[n++] = url;
	if (status == NATS_OK)
		status = library.natsOptions_SetServers(options, list, n);
	free(copy);
	return status;
}

static natsStatus set_secrets(natsOptions *options, const struct t2x_nats_settings *settings)
{
	natsStatus status = NATS_OK;

	if (settings->creds)
		status = library.natsOptions_SetUserCredentialsFromFiles(options, settings->creds, NULL);
	if (status == NATS_OK && settings->nkey)
		status = library.natsOptions_SetNKeyFromSeed(options, settings->nkey, settings->nkey_seed);
	if (status == NATS_OK && settings->ca)
		status = library.natsOptions_SetSecure(options, true);
	if (status == NATS_OK && settings->ca)
		status = library.natsOptions_LoadCATrustedCertificates(options, settings->ca);
	if (status == NATS_OK && settings->cert)
		status = library.natsOptions_LoadCertificatesChain(options, settings->cert, settings->key);
	return status;
}

static void note(struct t2x_nats *nats, const char *text)
{
	pthread_mutex_lock(&nats->lock);
	snprintf(nats->trouble, sizeof(nats->trouble), "%s", text ? text : "an error without a name");
	pthread_mutex_unlock(&nats->lock);
}

/* Without a handler the library prints errors to stderr itself. */
static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *owner)
{
	(void)connection;
	(void)subscription;
	note(owner, library.natsStatus_GetText(status));
}

static void on_refused(jsCtx *js, jsPubAckErr *refused, void *owner)
{
	(void)js;
	note(owner, refused->ErrText ? refused->ErrText : library.natsStatus_GetText(refused->Err));
}

/* Its presence says that the first attempt may fail, too. */
static void on_connected(natsConnection *connection, void *owner)
{
	(void)connection;
	(void)owner;
}

static natsStatus set_options(struct t2x_nats *nats, natsOptions *options, const struct t2x_nats_settings *settings)
{
	char inbox[T2X_ENVELOPE_HOST + 16];
	natsStatus status = set_servers(options, settings->servers);

	snprintf(inbox, sizeof(inbox), "_INBOX.%s", settings->name);
	if (status == NATS_OK)
		status = set_secrets(options, settings);
	if (status == NATS_OK)
		status = library.natsOptions_SetName(options, settings->name);
	if (status == NATS_OK)
		status = library.natsOptions_SetCustomInboxPrefix(options, inbox);
	library.natsOptions_SetMaxReconnect(options, -1);
	library.natsOptions_SetReconnectWait(options, 250);
	library.natsOptions_SetTimeout(options, REQUEST_MS);
	library.natsOptions_SetPingInterval(options, 5000);
	library.natsOptions_SetMaxPingsOut(options, 2);
	library.natsOptions_SetErrorHandler(options, on_error, nats);
	library.natsOptions_SetRetryOnFailedConnect(options, true, on_connected, nats);
	return status;
}

static natsStatus open_stream(struct t2x_nats *nats)
{
	jsOptions how;

	library.jsOptions_Init(&how);
	how.Wait = REQUEST_MS;
	how.PublishAsync.MaxPending = MAX_PENDING;
	how.PublishAsync.StallWait = 1;
	how.PublishAsync.ErrHandler = on_refused;
	how.PublishAsync.ErrHandlerClosure = nats;
	return library.natsConnection_JetStream(&nats->js, nats->connection, &how);
}

struct t2x_nats *t2x_nats_connect(const struct t2x_nats_settings *settings, const char **why)
{
	struct t2x_nats *nats = calloc(1, sizeof(*nats));
	natsOptions *options = NULL;
	natsStatus status;

	*why = nats ? NULL : "no memory";
	if (!*why && !load())
		*why = "libnats.so.3.4 is not here: it is in the Debian package libnats3.4";
	if (*why) {
		free(nats);
		return NULL;
	}
	pthread_mutex_init(&nats->lock, NULL);
	snprintf(nats->servers, sizeof(nats->servers), "%s", settings->servers);
	status = library.natsOptions_Create(&options);
	if (status == NATS_OK)
		status = set_options(nats, options, settings);
	if (status == NATS_OK)
		status = library.natsConnection_Connect(&nats->connection, options);
	if (status == NATS_NOT_YET_CONNECTED)
		status = NATS_OK;
	if (status == NATS_OK)
		status = open_stream(nats);
	library.natsOptions_Destroy(options);
	if (status == NATS_OK)
		return nats;
	*why = library.natsStatus_GetText(status);
	t2x_nats_close(nats);
	return NULL;
}

void t2x_nats_close(struct t2x_nats *nats)
{
	if (!nats)
		return;
	library.natsSubscription_Destroy(nats->receipts);
	library.natsSubscription_Destroy(nats->blocks);
	library.jsCtx_Destroy(nats->js);
	library.natsConnection_Destroy(nats->connection);
	pthread_mutex_destroy(&nats->lock);
	free(nats);
}

int t2x_nats_is_connected(struct t2x_nats *nats)
{
	return library.natsConnection_Status(nats->connection) == NATS_CONN_STATUS_CONNECTED;
}

const char *t2x_nats_away(struct t2x_nats *nats, uint64_t now_ms)
{
	if (t2x_nats_is_connected(nats)) {
		nats->away_ms = 0;
		nats->is_told = 0;
		return NULL;
	}
	if (!nats->away_ms)
		nats->away_ms = now_ms;
	if (nats->is_told || now_ms - nats->away_ms < AWAY_MS)
		return NULL;
	nats->is_told = 1;
	snprintf(nats->why, sizeof(nats->why), "%s: no answer; it is tried again and again", nats->servers);
	return nats->why;
}

void t2x_nats_trouble(struct t2x_nats *nats, char *to, size_t size)
{
	pthread_mutex_lock(&nats->lock);
	snprintf(to, size, "%s", nats->trouble);
	nats->trouble[0] = '\0';
	pthread_mutex_unlock(&nats->lock);
}

/* ---- a host ------------------------------------------------------------------------------------- */

int t2x_nats_listen(struct t2x_nats *nats, const char *host)
{
	char subject[T2X_NATS_SUBJECT];

	if (nats->receipts)
		return 1;
	snprintf(subject, sizeof(subject), "t2.receipt.%s", host);
	return library.natsConnection_SubscribeSync(&nats->receipts, nats->connection, subject) == NATS_OK;
}

size_t t2x_nats_next(struct t2x_nats *nats, int wait_ms, unsigned char *to, size_t size)
{
	natsMsg *message = NULL;
	size_t n = 0;

	if (!nats->receipts || library.natsSubscription_NextMsg(&message, nats->receipts, wait_ms) != NATS_OK)
		return 0;
	if ((size_t)library.natsMsg_GetDataLength(message) <= size) {
		n = (size_t)library.natsMsg_GetDataLength(message);
		memcpy(to, library.natsMsg_GetData(message), n);
	}
	library.natsMsg_Destroy(message);
	return n;
}

int t2x_nats_publish(struct t2x_nats *nats, const char *host, const char *id, const void *bytes, size_t n)
{
	char subject[T2X_NATS_SUBJECT];
	natsMsg *message = NULL;
	jsPubOptions how;
	natsStatus status;

	snprintf(subject, sizeof(subject), BLOCKS "%s", host);
	library.jsPubOptions_Init(&how);
	how.MsgId = id;
	how.MaxWait = 2 * REQUEST_MS;
	status = library.natsMsg_Create(&message, subject, NULL, bytes, (int)n);
	if (status == NATS_OK)
		status = library.js_PublishMsgAsync(nats->js, &message, &how);
	/* The library has taken it, unless that failed. */
	library.natsMsg_Destroy(message);
	return status == NATS_OK;
}

/* ---- a collector -------------------------------------------------------------------------------- */

static natsStatus make_stream(struct t2x_nats *nats, int replicas, int64_t max_bytes)
{
	const char *subjects[] = { BLOCKS "*" };
	jsStreamInfo *info = NULL;
	jsStreamConfig config;
	jsErrCode code = 0;
	natsStatus status = library.js_GetStreamInfo(&info, nats->js, STREAM, NULL, &code);

	if (status == NATS_OK) {
		library.jsStreamInfo_Destroy(info);
		return status;
	}
	if (status != NATS_NOT_FOUND)
		return status;
	library.jsStreamConfig_Init(&config);
	config.Name = STREAM;
	config.Subjects = subjects;
	config.SubjectsLen = 1;
	config.Retention = js_WorkQueuePolicy;
	config.Discard = js_DiscardNew;
	config.Storage = js_FileStorage;
	config.Replicas = replicas;
	config.MaxBytes = max_bytes;
	config.MaxMsgSize = T2X_ENVELOPE_MESSAGE + 1024;
	return library.js_AddStream(NULL, nats->js, &config, NULL, &code);
}

const char *t2x_nats_prepare(struct t2x_nats *nats, int replicas, int64_t max_bytes)
{
	natsStatus status = make_stream(nats, replicas, max_bytes);
	jsSubOptions how;
	jsErrCode code = 0;

	library.natsSubscription_Destroy(nats->blocks);
	nats->blocks = NULL;
	library.jsSubOptions_Init(&how);
	how.Stream = STREAM;
	how.ManualAck = true;
	how.Config.Durable = CONSUMER;
	how.Config.AckPolicy = js_AckExplicit;
	how.Config.AckWait = 30 * SECOND_NS;
	how.Config.MaxAckPending = 8 * T2X_NATS_BATCH;
	if (status == NATS_OK)
		status = library.js_PullSubscribe(&nats->blocks, nats->js, BLOCKS "*", CONSUMER, NULL, &how, &code);
	if (status == NATS_OK) {
		library.natsSubscription_SetPendingLimits(nats->blocks, -1, PENDING_BYTES);
		return NULL;
	}
	snprintf(nats->why, sizeof(nats->why), "%s (%d)", library.natsStatus_GetText(status), (int)code);
	return nats->why;
}

int t2x_nats_fetch(struct t2x_nats *nats, struct t2x_nats_message *messages, int wait_ms)
{
	natsMsgList list = { NULL, 0 };
	jsErrCode code = 0;
	natsStatus status = library.natsSubscription_Fetch(&list, nats->blocks, T2X_NATS_BATCH, wait_ms, &code);
	int n = 0;

	for (int i = 0; i < list.Count; i++) {
		jsMsgMetaData *meta = NULL;
		natsMsg *message = list.Msgs[i];

		list.Msgs[i] = NULL;
		messages[n] = (struct t2x_nats_message){
			.own = message, .subject = library.natsMsg_GetSubject(message),
			.bytes = (const unsigned char *)library.natsMsg_GetData(message),
			.n = (size_t)library.natsMsg_GetDataLength(message), .deliveries = 1,
		};
		if (library.natsMsg_GetMetaData(&meta, message) == NATS_OK)
			messages[n].deliveries = meta->NumDelivered;
		library.jsMsgMetaData_Destroy(meta);
		n++;
	}
	library.natsMsgList_Destroy(&list);
	return n || status == NATS_OK || status == NATS_TIMEOUT ? n : -1;
}

void t2x_nats_finish(struct t2x_nats_message *message, enum t2x_nats_fate fate, int later_ms)
{
	if (fate == T2X_NATS_ACK)
		library.natsMsg_Ack(message->own, NULL);
	else if (fate == T2X_NATS_TERM)
		library.natsMsg_Term(message->own, NULL);
	else
		library.natsMsg_NakWithDelay(message->own, later_ms, NULL);
	library.natsMsg_Destroy(message->own);
	message->own = NULL;
}

void t2x_nats_receipt(struct t2x_nats *nats, const char *host, const unsigned char *bytes, size_t n)
{
	char subject[T2X_NATS_SUBJECT];

	snprintf(subject, sizeof(subject), "t2.receipt.%s", host);
	library.natsConnection_Publish(nats->connection, subject, bytes, (int)n);
}

void t2x_nats_flush(struct t2x_nats *nats)
{
	library.natsConnection_FlushTimeout(nats->connection, REQUEST_MS);
}

#else

struct t2x_nats *t2x_nats_connect(const struct t2x_nats_settings *settings, const char **why)
{
	(void)settings;
	*why = "this t2 was built without libnats";
	return NULL;
}

/* Nobody has a connection, so nobody calls what follows. */
void t2x_nats_close(struct t2x_nats *nats)
{
	(void)nats;
}

int t2x_nats_is_connected(struct t2x_nats *nats)
{
	(void)nats;
	return 0;
}

const char *t2x_nats_away(struct t2x_nats *nats, uint64_t now_ms)
{
	(void)nats;
	(void)now_ms;
	return NULL;
}

void t2x_nats_trouble(struct t2x_nats *nats, char *to, size_t size)
{
	(void)nats;
	memset(to, 0, size);
}

int t2x_nats_listen(struct t2x_nats *nats, const char *host)
{
	(void)nats;
	(void)host;
	return 0;
}

size_t t2x_nats_next(struct t2x_nats *nats, int wait_ms, unsigned char *to, size_t size)
{
	(void)nats;
	(void)wait_ms;
	memset(to, 0, size);
	return 0;
}

int t2x_nats_publish(struct t2x_nats *nats, const char *host, const char *id, const void *bytes, size_t n)
{
	(void)nats;
	(void)host;
	(void)id;
	(void)bytes;
	(void)n;
	return 0;
}

const char *t2x_nats_prepare(struct t2x_nats *nats, int replicas, int64_t max_bytes)
{
	(void)nats;
	(void)replicas;
	(void)max_bytes;
	return "no libnats";
}

int t2x_nats_fetch(struct t2x_nats *nats, struct t2x_nats_message *messages, int wait_ms)
{
	(void)nats;
	(void)messages;
	(void)wait_ms;
	return -1;
}

void t2x_nats_finish(struct t2x_nats_message *message, enum t2x_nats_fate fate, int later_ms)
{
	(void)message;
	(void)fate;
	(void)later_ms;
}

void t2x_nats_receipt(struct t2x_nats *nats, const char *host, const unsigned char *bytes, size_t n)
{
	(void)nats;
	(void)host;
	(void)bytes;
	(void)n;
}

void t2x_nats_flush(struct t2x_nats *nats)
{
	(void)nats;
}

#endif
