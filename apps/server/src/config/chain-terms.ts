import * as z from "zod";
import { millisecondsSchema, secondsSchema } from "./duration-schemas.ts";
import { urlSchema } from "./url-schema.ts";

/** A deposit of at most this value is acted on this many blocks after its own; above the highest value, when final. */
const depthSchema = z.strictObject({ upToUsd: z.number().positive(), blocks: z.int().nonnegative() });

/** Another company's node of the same chain, or our own. A deposit above `agreeAboveUsd` counts once it has it too. */
const secondProviderSchema = z.strictObject({ rpcUrl: urlSchema, agreeAboveUsd: z.number().nonnegative() });

/** The terms of an EVM chain. */
export const evmTermsSchema = z.strictObject({
	rpcUrl: urlSchema,
	/** Absent if one provider is trusted, whatever a deposit is worth. */
	secondProvider: secondProviderSchema.exactOptional(),
	/** How often to ask for a new block. */
	pollMs: millisecondsSchema.default(1_000),
	depths: z.array(depthSchema).default([]),
	/** How long a block takes to be final, generously. */
	finalitySeconds: secondsSchema,
	/** From the quote to the last moment an order can be opened. */
	openSeconds: secondsSchema.default(300),
	/** From the open deadline to the last moment it can be filled. */
	fillSeconds: secondsSchema,
	/** From the fill deadline until anyone may refund. */
	refundSeconds: secondsSchema,
	/** Blocks after which a transaction that was not mined is sent again with a higher fee. */
	replaceAfterBlocks: z.int().positive().default(5),
	/** Added to the base fee, in the chain's smallest unit. */
	priorityFeeWei: z.string().regex(/^\d+$/).default("1000000"),
	/** Most jobs in one transaction. */
	bundleSize: z.int().min(1).max(100).default(20),
	/** How long the first job of a bundle waits for others. */
	bundleWindowMs: z.int().nonnegative().default(50),
	/** Most value that may be delivered elsewhere against inputs from here that are not released yet, per attester set. */
	unreleasedCapUsd: z.number().positive().default(1_000_000),
	/** Most of that value with deposits that are not final. A reorg of this chain could cost that much. */
	unfinalCapUsd: z.number().positive().default(250_000),
});

/** The terms of Solana. */
export const solanaTermsSchema = z.strictObject({
	rpcUrl: urlSchema,
	secondProvider: secondProviderSchema.exactOptional(),
	pollMs: millisecondsSchema.default(400),
	/** Depths in slots. */
	depths: z.array(depthSchema).default([]),
	finalitySeconds: secondsSchema.default(20),
	openSeconds: secondsSchema.default(180),
	fillSeconds: secondsSchema,
	refundSeconds: secondsSchema,
	/** Shortest and longest lifetime of a new blockhash: 150 blocks, at the pace of this cluster. */
	blockhashSeconds: z
		.strictObject({ least: z.int().positive(), most: z.int().positive() })
		.default({ least: 45, most: 120 }),
	/** Price of a compute unit in micro-lamports, which puts our transactions before others'. */
	computePriceMicroLamports: z
		.string()
		.regex(/^\d{1,9}$/)
		.default("50000"),
	/** Most transactions that one run of a lane signs. */
	bundleSize: z.int().min(1).max(100).default(20),
	bundleWindowMs: z.int().nonnegative().default(50),
	/** Age at which a marker is closed: its lamports come back, and its guard against a second payment ends. */
	markerSeconds: z
		.int()
		.positive()
		.default(30 * 86_400),
	/** The desk's charge on assets that it prices by their feed alone. */
	spreadBps: z
		.strictObject({ stable: z.int().nonnegative().default(5), volatile: z.int().nonnegative().default(30) })
		.prefault({}),
	/** Most whole tokens that leave the vault in an hour, by symbol. Enforced by this service alone, by no program. */
	outflowCaps: z.record(z.string(), z.string().regex(/^\d+$/)).default({}),
	unreleasedCapUsd: z.number().positive().default(1_000_000),
	unfinalCapUsd: z.number().positive().default(250_000),
});

export type EvmTerms = z.output<typeof evmTermsSchema>;
export type SolanaTerms = z.output<typeof solanaTermsSchema>;
