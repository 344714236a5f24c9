import { isIP } from "node:net";
import { millisecondsSchema, secondsSchema } from "@geoswap/keys/config/duration-schemas";
import { urlSchema } from "@geoswap/keys/config/url-schema";
import { attesterSetHash, attesterSetSchema, type Deployment } from "@geoswap/protocol";
import * as z from "zod";
import type { ChainConfig } from "./chain-config.ts";
import { evmTermsSchema, solanaTermsSchema } from "./chain-terms.ts";
import { receiptKeysSchema, workerKeysSchema } from "./role-keys.ts";
import { treasurySchema } from "./treasury-policy.ts";

const portSchema = z.int().min(0).max(65_535);
/** A web origin, as a browser sends it. */
const originSchema = z.string().superRefine((text, context) => {
	if (text === "*") {
		context.addIssue("* would let any page use a leaked key; list each origin");
	} else if (!URL.canParse(text) || new URL(text).origin !== text) {
		context.addIssue("an origin has only a scheme, a host and a port, as in https://app.example");
	}
});
/** An address, or a network as address/bits. */
const networkSchema = z.string().superRefine((text, context) => {
	const [address = "", bits, ...more] = text.split("/");
	const longest = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
	if (longest === 0 || more.length > 0) {
		context.addIssue("a proxy is an address or a network, as in 10.1.2.3, 10.0.0.0/8 or fd00::/8");
	} else if (bits !== undefined && !(/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= longest)) {
		context.addIssue(
			bits === "0"
				? "/0 would accept every caller's claimed address; list the addresses of your proxies"
				: `the prefix of ${address} must have 1 to ${longest} bits`,
		);
	}
});
/** A public key, as Restate logs it at its start. */
const identityKeySchema = z
	.string()
	.regex(
		/^publickeyv1_[1-9A-HJ-NP-Za-km-z]{32,44}$/,
		"a public key of Restate has the form publickeyv1_ and base58",
	);
const listenSchema = z.strictObject({ host: z.string().default("127.0.0.1"), port: portSchema });

const rateSchema = z.strictObject({
	quote: z.number().positive().default(20),
	build: z.number().positive().default(10),
	submit: z.number().positive().default(10),
	delegation: z.number().positive().default(10),
	status: z.number().positive().default(20),
	/** Rate of the list endpoints: chains, tokens, swaps. */
	list: z.number().positive().default(10),
});

/** The discount for a wallet that holds enough of the service's token, which the deployment file names. */
const feeDiscountSchema = z.strictObject({
	/** The chain whose `feeDiscountToken` counts. */
	chainId: z.int().positive(),
	tiers: z
		.array(
			z.strictObject({
				name: z.string().min(1).max(32),
				/** In whole tokens. */
				minimum: z.string().regex(/^[1-9]\d{0,30}$/),
				discountPercent: z.number().positive().max(100),
			}),
		)
		.min(1),
	/** How long a tier counts after its balance was read. */
	cacheSeconds: secondsSchema.default(300),
	/** The chain's timeout. A wallet's first quote waits at most a tenth of a second for it. */
	timeoutMs: millisecondsSchema.default(1_000),
});

/** Prices of Pyth's web service (Hermes). Its API key is a secret. */
const pythSchema = z.strictObject({
	/** The service's address, without `/v2/updates/price/latest`. */
	url: urlSchema,
	pollMs: millisecondsSchema.default(2_000),
	timeoutMs: millisecondsSchema.default(2_000),
	/** Age above which a price is not a reference. */
	maxAgeSeconds: secondsSchema.default(30),
	/**
	 * Half the width of the confidence interval, as a share of the price. A price with a wider interval is not a
	 * reference.
	 */
	maxConfidenceBps: z.int().positive().max(10_000).default(50),
	/** How far feed and Pyth may be apart. Beyond that the asset is not quoted. */
	deviationBps: z.int().positive().max(10_000).default(200),
	/** True if an asset with a `pythId` and a good feed is not quoted while Pyth has no fresh price of it. */
	isRequired: z.boolean().default(false),
});

/** The operator's own list of addresses that are not served, which a file or an HTTP service keeps. */
const denyListSchema = z
	.strictObject({
		/** Path of a file with one address per line, relative to this one. It is read again when it changes. */
		file: z.string().min(1).exactOptional(),
		/** URL of a service that is requested with the parameter `address`. Its token is a secret. */
		url: urlSchema.exactOptional(),
		timeoutMs: millisecondsSchema.default(1_000),
		/** How long an answer of the service counts. */
		cacheSeconds: secondsSchema.default(60),
	})
	.refine(
		({ file, url }) => (file === undefined) !== (url === undefined),
		"must have either a file or a url",
	);

const telemetrySchema = z.strictObject({
	/** URL of a collector's `/v1/traces`, to which traces are sent as OTLP over HTTP. Without it none are sent. */
	tracesUrl: urlSchema.exactOptional(),
	/** Share of swaps to trace, 0 to 1. A swap is traced completely or not at all. */
	sampleRatio: z.number().min(0).max(1).default(1),
});

const auditSchema = z.strictObject({
	everySeconds: secondsSchema.default(300),
	/** Interval of full audits. The others check only what is undecided or new. */
	wholeEverySeconds: secondsSchema.default(86_400),
	/** Seconds after which a finding is checked again. Only a confirmed one pauses a chain. */
	confirmSeconds: z.int().nonnegative().default(15),
	metrics: listenSchema.exactOptional(),
});

/** The operator's pages. */
const consoleSchema = listenSchema.extend({
	/**
	 * The address that operators type into the browser. Passkeys belong to its host. `http://localhost:<port>` by
	 * default, for a tunnel.
	 */
	publicUrl: originSchema.exactOptional(),
	/** Time without a request after which an operator must log in again. */
	idleMinutes: z.number().positive().max(1_440).default(30),
	/** Time after a login after which an operator must log in again. */
	sessionHours: z.number().positive().max(168).default(12),
	/**
	 * Metrics addresses of the workers, which report the state of their nodes and relayers, and of the audit. By
	 * default those of `worker.metrics` and `audit.metrics`.
	 */
	workerMetricsUrls: z.array(urlSchema).exactOptional(),
	/** Proxies in front, by address or network. Their X-Forwarded-For contains the caller's address. */
	trustedProxies: z.array(networkSchema).default([]),
});

/** The events of swaps, which streams and webhooks deliver. */
const eventsSchema = z.strictObject({
	/** Days for which an event is kept, so that streams can be resumed. Webhooks are retried for one day. */
	retentionDays: z.number().min(2).max(365).default(30),
	/** Pauses between attempts to deliver to a webhook. Each is three times the previous one, up to `longest`. */
	webhookPauseSeconds: z
		.strictObject({
			first: z.number().positive().default(5),
			longest: z.number().positive().max(21_600).default(3_600),
		})
		.prefault({}),
});

/** A name that PostgreSQL accepts without quotes. */
const roleSchema = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);

const databaseSchema = z.strictObject({
	/**
	 * Roles that `geoswapd migrate` creates. Roles belong to a whole server, so two services on one need different
	 * names.
	 */
	roles: z
		.strictObject({
			api: roleSchema.default("geoswap_api"),
			worker: roleSchema.default("geoswap_worker"),
			auditor: roleSchema.default("geoswap_auditor"),
			console: roleSchema.default("geoswap_console"),
		})
		.refine((roles) => new Set(Object.values(roles)).size === 4, "each process must have its own role")
		.prefault({}),
});

export const configSchema = z.strictObject({
	/** Path of the published deployment file, relative to this one. */
	deployment: z.string(),
	chains: z.record(z.string().regex(/^[1-9]\d*$/), evmTermsSchema),
	/** Absent if Solana is not offered. */
	solana: solanaTermsSchema.exactOptional(),
	api: listenSchema.extend({
		/** The service's public address, for links. By default the address that the caller used. */
		publicUrl: originSchema.exactOptional(),
		corsOrigins: z.array(originSchema).default([]),
		/** Per second and key. The burst is twenty times that. */
		rates: rateSchema.prefault({}),
		heldStatusCalls: z.int().positive().default(50),
		/** Maximum open streams of events, per key over all processes, and in this process. */
		eventStreams: z
			.strictObject({
				perKey: z.int().positive().default(100),
				perProcess: z.int().positive().default(10_000),
			})
			.prefault({}),
		/**
		 * Limits of requests for public pages of swaps in one process, so that they do not slow down callers with keys.
		 */
		sharePages: z
			.strictObject({
				/** Connections to the database. */
				connections: z.int().positive().default(3),
				/** Requests per second and address. */
				perSecond: z.number().positive().default(20),
				/** Maximum number of open streams. */
				streams: z.int().positive().default(1_000),
			})
			.prefault({}),
		/** Requests per second and address without a valid key. */
		unauthenticatedPerSecond: z.number().positive().default(20),
		/** Proxies in front, by address or network (10.0.0.0/8). Their X-Forwarded-For contains the caller's address. */
		trustedProxies: z.array(networkSchema).default([]),
		/** How long a retired seal key opens op tokens, so that a submit can be sent again. */
		retiredSealKeyDays: z.number().positive().default(30),
		/** Seconds for which a stopping process still serves while `/ready` fails, so that a load balancer can react. */
		drainSeconds: z.number().nonnegative().max(60).default(0),
		/** Address that Prometheus scrapes. It has no login, so it is for a private network. */
		metrics: listenSchema.exactOptional(),
		/** The key that signs receipts of ended swaps, and how to reach it. Without a key no receipts are signed. */
		receipts: receiptKeysSchema.prefault({}),
	}),
	worker: listenSchema.extend({
		/** URL at which the engine reaches the worker, if that is not where it listens. */
		publicUrl: urlSchema.optional(),
		metrics: listenSchema.exactOptional(),
		/** Maximum concurrent rounds when more swaps are due than one round takes. */
		roundSlots: z.int().positive().max(16).default(1),
	}),
	/** References to the keys that the worker signs with. The keys themselves are elsewhere. */
	keys: workerKeysSchema.prefault({}),
	/** The operator's pages. Absent if `geoswapd console` is not used. */
	console: consoleSchema.exactOptional(),
	database: databaseSchema.prefault({}),
	restate: z.strictObject({
		ingressUrl: urlSchema,
		adminUrl: urlSchema,
		/** Public keys that Restate signs its requests with. A worker answers no others. Required off loopback. */
		identityKeys: z.array(identityKeySchema).default([]),
	}),
	attesters: z.array(z.strictObject({ url: urlSchema })).default([]),
	/** Retired attester sets that open orders still reference. */
	earlierAttesterSets: z
		.array(attesterSetSchema.transform((set) => ({ ...set, hash: attesterSetHash(set) })))
		.default([]),
	/** How long an attester counts as alive after a heartbeat. */
	heartbeatSeconds: secondsSchema.default(600),
	price: z
		.strictObject({
			/** At most three decimals, because fees are kept in thousandths of a basis point. */
			feeBps: z.number().min(0).max(1_000).multipleOf(0.001).default(12.5),
			/** The minimum cost of the caller's option, in hundredths of a basis point. */
			optionCentibps: z
				.strictObject({
					stable: z.int().nonnegative().default(100),
					volatile: z.int().nonnegative().default(1_500),
				})
				.default({ stable: 100, volatile: 1_500 }),
			/**
			 * How much prices move in a year, in percent (annualised standard deviation), by kind or by symbol. The option
			 * costs more where a recipient can refuse a fill that is already signed.
			 */
			volatilityPercent: z
				.strictObject({
					stable: z.number().nonnegative().max(1_000).default(1),
					volatile: z.number().nonnegative().max(1_000).default(80),
					bySymbol: z.record(z.string(), z.number().nonnegative().max(1_000)).default({}),
				})
				.prefault({}),
			/**
			 * The desk's charge where the two chains settle in different tokens, because their feeds may lag behind the
			 * market.
			 */
			settlementSpreadBps: z.int().nonnegative().max(1_000).default(0),
			/**
			 * How far inventory may move a price: more for what a vault lacks, less for what it has too much of. For the
			 * token that leaves and for the one that comes; 0 switches it off.
			 */
			skew: z.strictObject({ maxBps: z.int().nonnegative().max(1_000).default(15) }).prefault({}),
			/** Added to the cost of the transactions at current fees, because fees may rise before the last one is sent. */
			networkMarginBps: z.int().nonnegative().max(10_000).default(200),
			/** How far above the reference feed a price may be. */
			feedMarginBps: z.int().nonnegative().default(10),
			/** How far a pool's price may be from the feed. Beyond that the asset is not quoted. */
			feedDeviationBps: z.int().positive().default(300),
			/** How long a rollup's feeds are not trusted after its sequencer is up again. */
			sequencerGraceSeconds: z.int().nonnegative().default(3_600),
			/** Pyth as a second reference, or as the only one of assets without a feed. Absent if it is not used. */
			pyth: pythSchema.exactOptional(),
			highImpactBps: z.int().max(0).default(-300),
			minimumUsd: z.number().positive().default(1),
			maximumUsd: z.number().positive().default(250_000),
			/** Maximum value of the native token that a recipient gets for its gas; 0 offers none. */
			maximumTopUpUsd: z.number().nonnegative().max(1_000).default(5),
			/** The top rung of a ladder. */
			ladderTopUsd: z.number().positive().default(500_000),
		})
		.prefault({}),
	feeDiscount: feeDiscountSchema.exactOptional(),
	/** Absent if no address is denied. */
	denyList: denyListSchema.exactOptional(),
	treasury: treasurySchema.prefault({}),
	/** How the books are checked against the chains, by one audit process at a time. */
	audit: auditSchema.prefault({}),
	telemetry: telemetrySchema.prefault({}),
	events: eventsSchema.prefault({}),
	limits: z
		.strictObject({
			/**
			 * Maximum share of the vault's inventory of a token that is reserved for one account's swaps that are not open
			 * yet.
			 */
			unopenedShareOfInventory: z.number().positive().max(1).default(0.2),
			/**
			 * Maximum value that is reserved for such swaps, regardless of the inventory. Absent if only the share limits
			 * it.
			 */
			unopenedUsdPerAccount: z.number().positive().exactOptional(),
			/**
			 * Maximum share of a chain's `unreleasedCapUsd` and `unfinalCapUsd` that the swaps of one account take. With 1
			 * they may take all of it, and wait for room once they are open.
			 */
			accountShareOfCaps: z.number().positive().max(1).default(0.5),
			reservationSeconds: secondsSchema.default(60),
			/**
			 * Maximum number of swaps whose orders are not open yet, of a wallet on a chain, and of an account on all
			 * chains.
			 */
			unopenedSwaps: z
				.strictObject({
					perWallet: z.int().positive().default(20),
					perAccount: z.int().positive().default(500),
				})
				.prefault({}),
			/**
			 * How much more than its deposit a fill may be worth, at the prices when it is signed, because prices may move
			 * between submit and fill. Above it the swap is refunded.
			 */
			fillMarginBps: z.int().nonnegative().default(500),
			/**
			 * Maximum gas cost per day of an account's swaps that are not settled. Undecided swaps count with what they
			 * have cost and may yet cost, so it also bounds how many an account has in progress on a chain with high fees.
			 */
			unsettledGasUsdPerDay: z.number().positive().default(50),
			/**
			 * Maximum value of the swaps that an account submits within 24 hours. Swaps whose orders were never opened do not
			 * count. Absent if it is not limited.
			 */
			maxUsdPerDay: z.number().nonnegative().exactOptional(),
			/**
			 * Maximum number of an account's swaps per day that may be refunded because their recipients could not be paid.
			 */
			refusedRecipientsPerDay: z.int().positive().default(10),
			/**
			 * Maximum number of delegations that the service removes per day at its own cost, for an account, and for all
			 * accounts on a chain.
			 */
			delegationRemovalsPerDay: z
				.strictObject({
					perAccount: z.int().nonnegative().default(20),
					perChain: z.int().nonnegative().default(200),
				})
				.prefault({}),
			/**
			 * Maximum gas, in dollars a day and for each chain, that the service spends on refunds of orders that were
			 * opened on that chain without a submit, because anyone can open these. Voids on Solana count too.
			 */
			rebuiltRefundsUsdPerDay: z.number().nonnegative().max(1_000_000).default(50),
			/** Maximum value of an asset that the vault accepts on a chain, including what it holds. */
			maxHoldingUsd: z
				.strictObject({
					perAsset: z.number().nonnegative().default(10_000_000),
					/** Exceptions for single assets. */
					bySymbol: z.record(z.string(), z.number().nonnegative()).default({}),
				})
				.prefault({}),
		})
		.prefault({}),
	logLevel: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
});

export type ConfigFile = z.input<typeof configSchema>;
export type Config = Omit<z.output<typeof configSchema>, "chains" | "deployment" | "solana"> & {
	deployment: Deployment;
	/** The chains of both kinds, EVM chains first. */
	chains: ChainConfig[];
};
