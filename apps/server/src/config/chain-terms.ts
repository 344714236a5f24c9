import { millisecondsSchema, secondsSchema } from "@geoswap/keys/config/duration-schemas";
import { urlSchema } from "@geoswap/keys/config/url-schema";
import * as z from "zod";

/**
 * A deposit of at most this value counts this many blocks after its own. Above the highest value, it counts when
 * final.
 */
const depthSchema = z.strictObject({ upToUsd: z.number().positive(), blocks: z.int().nonnegative() });

/** A node of a chain, either a provider's endpoint or the operator's own node. */
const nodeSchema = z.strictObject({
	url: urlSchema.regex(/^https?:/i, "the URL of a node must begin with http: or https:"),
	/** Notifies of new blocks. Absent if the node is only polled. */
	webSocketUrl: urlSchema
		.regex(/^wss?:/i, "the URL of a subscription must begin with ws: or wss:")
		.exactOptional(),
	/**
	 * The calls that the node gets: reads, transactions to send, and the cross-check of a deposit above
	 * `agreeAboveUsd`.
	 */
	roles: z
		.array(z.enum(["read", "send", "agree"]))
		.min(1)
		.default(["read", "send", "agree"]),
});

/** The nodes of a chain. The first ones are preferred. */
const nodesSchema = z.array(nodeSchema).min(1);
/** Without subscriptions, because slots follow each other so fast that notifications would save nothing. */
const solanaNodesSchema = z.array(nodeSchema.omit({ webSocketUrl: true })).min(1);
/**
 * Absent if the node that reads is trusted for deposits of any value. Otherwise two hosts must have a deposit above
 * it.
 */
const agreeAboveUsdSchema = z.number().nonnegative().exactOptional();

/**
 * Ids of the accounts that the chain is offered to. Absent if it is offered to all, empty if to none. Swaps that have
 * begun continue in either case.
 */
const onlyAccountsSchema = z.array(z.uuid()).exactOptional();

/**
 * The block explorer's address, to which `/tx/…` and `/address/…` are added before a query, if it has one. Absent if
 * hashes are shown without links.
 */
const explorerUrlSchema = urlSchema.regex(/^https?:/i, "must begin with http: or https:").exactOptional();

/** How the desk uses single assets of a chain, by symbol. */
const assetTermsSchema = z
	.record(
		z.string(),
		z.strictObject({
			/**
			 * True if outputs are delivered from the vault's inventory of the asset while there is enough. Otherwise they
			 * are bought on the chain for each swap, except for settlement tokens and on Solana.
			 */
			fromInventory: z.boolean().default(false),
			/**
			 * The amount that is kept of an asset that is not the settlement token, in whole tokens. A plan sells what is
			 * above. By default nothing is kept, and of an asset that is delivered from inventory everything.
			 */
			maxHeld: z
				.string()
				.regex(/^\d{1,30}(\.\d{1,18})?$/, "must be an amount in whole tokens, as in 1.5")
				.exactOptional(),
		}),
	)
	.default({});

/**
 * Value of the settlement token that the operator wants to have on the chain. By default the chains without it have
 * equal shares of what the others leave.
 */
const inventoryTargetUsdSchema = z.number().nonnegative().max(1e12).exactOptional();

const weiSchema = z.string().regex(/^\d{1,30}$/);

/** The terms of an EVM chain. */
export const evmTermsSchema = z.strictObject({
	nodes: nodesSchema,
	agreeAboveUsd: agreeAboveUsdSchema,
	onlyAccounts: onlyAccountsSchema,
	explorerUrl: explorerUrlSchema,
	/** How often to poll for a new block. */
	pollMs: millisecondsSchema.default(1_000),
	depths: z.array(depthSchema).default([]),
	/** How long a block takes to be final, estimated generously. */
	finalitySeconds: secondsSchema,
	/** Seconds from the quote to the last moment at which an order can be opened. */
	openSeconds: secondsSchema.default(300),
	/** Seconds from the open deadline to the last moment at which it can be filled. */
	fillSeconds: secondsSchema,
	/** Seconds from the fill deadline until anyone may refund it. */
	refundSeconds: secondsSchema,
	/** Blocks after a transaction was sent until it is sent again with a higher fee. */
	replaceAfterBlocks: z.int().positive().default(5),
	/** Bounds of the tip per unit of gas. Within them it follows recent blocks; if both are equal, nothing is read. */
	minimumTipWei: weiSchema.default("1000000"),
	maximumTipWei: weiSchema.default("5000000000"),
	/** Maximum number of jobs in one transaction. */
	bundleSize: z.int().min(1).max(100).default(20),
	/** How long the first job of a bundle waits for others. */
	bundleWindowMs: z.int().nonnegative().default(50),
	/**
	 * Maximum value that may be delivered elsewhere against this chain's inputs that are not released yet, per attester
	 * set.
	 */
	unreleasedCapUsd: z.number().positive().default(1_000_000),
	/** Maximum part of that value with deposits that are not final. A reorg of this chain could cost that much. */
	unfinalCapUsd: z.number().positive().default(250_000),
	inventoryTargetUsd: inventoryTargetUsdSchema,
	assets: assetTermsSchema,
});

/** A quoter over HTTP. Its API key is a secret. */
const quoterSchema = z.strictObject({
	/** The address without `/order`. */
	url: urlSchema,
	timeoutMs: millisecondsSchema.default(2_000),
	/** Maximum request rate of one process. */
	requestsPerSecond: z.number().positive().max(100).default(3),
	/** Age above which its prices are not used, and the spread is charged instead. */
	maxAgeSeconds: secondsSchema.default(10),
	/** The charge below the quoter's price, because within `maxAgeSeconds` the market may have moved. */
	marginBps: z
		.strictObject({ stable: z.int().nonnegative().default(1), volatile: z.int().nonnegative().default(5) })
		.prefault({}),
	/** How far it may be from the feed. Beyond that the asset is not quoted. */
	deviationBps: z.int().positive().max(10_000).default(200),
});

/** The terms of Solana. */
export const solanaTermsSchema = z.strictObject({
	nodes: solanaNodesSchema,
	agreeAboveUsd: agreeAboveUsdSchema,
	onlyAccounts: onlyAccountsSchema,
	explorerUrl: explorerUrlSchema,
	pollMs: millisecondsSchema.default(400),
	/** Depths in slots. */
	depths: z.array(depthSchema).default([]),
	finalitySeconds: secondsSchema.default(20),
	openSeconds: secondsSchema.default(180),
	fillSeconds: secondsSchema,
	refundSeconds: secondsSchema,
	/** Minimum and maximum lifetime of a new blockhash, which is 150 blocks at this cluster's pace. */
	blockhashSeconds: z
		.strictObject({ least: z.int().positive(), most: z.int().positive() })
		.default({ least: 45, most: 120 }),
	/** Price of a compute unit in micro-lamports, which gives the service's transactions priority over others. */
	computePriceMicroLamports: z
		.string()
		.regex(/^\d{1,9}$/)
		.default("50000"),
	/** Maximum number of transactions that one run of a lane signs. */
	bundleSize: z.int().min(1).max(100).default(20),
	bundleWindowMs: z.int().nonnegative().default(50),
	/** The desk's charge on assets that it prices by their feed alone. */
	spreadBps: z
		.strictObject({ stable: z.int().nonnegative().default(5), volatile: z.int().nonnegative().default(30) })
		.prefault({}),
	/** An HTTP quoter of Jupiter's shape, whose fresh prices replace the spread. Absent if there is none. */
	quoter: quoterSchema.exactOptional(),
	unreleasedCapUsd: z.number().positive().default(1_000_000),
	unfinalCapUsd: z.number().positive().default(250_000),
	inventoryTargetUsd: inventoryTargetUsdSchema,
	assets: assetTermsSchema,
});

export type NodeTerms = z.output<typeof nodeSchema>;
export type EvmTerms = z.output<typeof evmTermsSchema>;
export type SolanaTerms = z.output<typeof solanaTermsSchema>;
