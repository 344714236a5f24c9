import { chainKindSchema } from "@geoswap/protocol";
import { type Address, getAddress, isAddress } from "viem";
import * as z from "zod";

/**
 * An address with its checksum, which reveals most wrong digits. An address in lower case is refused, because presets
 * are written once and read often.
 */
const addressSchema = z
	.string()
	.refine(
		(text) => isAddress(text, { strict: false }) && getAddress(text) === text,
		"not an address, or its checksum is wrong",
	)
	.transform((text) => text as Address);

const base58Schema = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, "not an address in base58");

/** Keys of the preset's `sources`. */
const sourcesSchema = z.array(z.string());

/** The key of a source that stands for two or more independent repositories. */
const severalSources = "thirds";

/** The fields beside a value that name its sources. */
const saidBy = {
	sources: sourcesSchema,
	/** Marks a value that only one source states. */
	oneSource: z.literal(true).exactOptional(),
	note: z.string().exactOptional(),
};

/**
 * A value and the sources that state it. Null if no source does. The operator must then provide it, and nothing is
 * guessed.
 */
function factSchema<Value extends z.ZodType>(value: Value) {
	return z.strictObject({ value: value.nullable(), ...saidBy }).superRefine(refineSources);
}

/** A value that must be known. */
function sourcedSchema<Value extends z.ZodType>(value: Value) {
	return z.strictObject({ value, ...saidBy }).superRefine(refineSources);
}

function refineSources(fact: unknown, context: z.RefinementCtx): void {
	const { value, sources, oneSource } = fact as { value: unknown; sources: string[]; oneSource?: true };
	const isKnown = value !== null;
	if (isKnown && sources.length === 0) context.addIssue("has a value but no source");
	if (!isKnown && sources.length > 0) context.addIssue("has sources but no value");
	const isOne = isKnown && sources.length === 1 && sources[0] !== severalSources;
	if (isOne && !oneSource) context.addIssue("has one source and must be marked oneSource");
	if (!isOne && oneSource) context.addIssue("is wrongly marked oneSource");
}

/** A number that the project chose, and why. Null if the operator must choose it. */
function termSchema<Value extends z.ZodType>(value: Value) {
	return z.strictObject({ value: value.nullable(), reason: z.string().min(1) });
}

const symbolSchema = z.string().min(1).max(32);
const secondsSchema = z.int().positive();
const usdSchema = z.number().positive();

const venueSchema = z.strictObject({
	factory: sourcedSchema(addressSchema),
	quoterV2: sourcedSchema(addressSchema),
	/** SwapRouter02, or a router with the same calls. */
	router: sourcedSchema(addressSchema),
	/** The fees of pools, in hundredths of a basis point, that are tried to find paths. */
	feeTiers: z.array(z.int().positive()).min(1),
	note: z.string().exactOptional(),
});
/** Exchanges whose quoter and router have the calls of Uniswap v3. */
const venueNameSchema = z.enum(["uniswap-v3", "pancakeswap-v3"]);

const feedSchema = z.strictObject({
	pair: z.string().regex(/^\w+\/USD$/),
	/** The texts that the feed's `description()` may return. */
	descriptions: z.array(z.string()).min(1),
	address: sourcedSchema(addressSchema),
	decimals: z.int().min(0).max(36),
	heartbeatSeconds: factSchema(secondsSchema),
	deviationPercent: factSchema(z.number().positive()),
	note: z.string().exactOptional(),
});

const evmPresetSchema = z.strictObject({
	kind: chainKindSchema,
	chainId: z.int().positive(),
	name: z.string().min(1),
	testnet: z.boolean(),
	/** The block explorer to which the console's pages link. */
	explorerUrl: factSchema(z.url()).exactOptional(),
	native: z.strictObject({ symbol: symbolSchema, decimals: z.literal(18), feed: z.string() }),
	wrappedNative: sourcedSchema(addressSchema),
	/** The symbol of the token that the vault's paths start from. */
	settlementToken: symbolSchema,
	tokens: z.array(
		z.strictObject({
			symbol: symbolSchema,
			address: sourcedSchema(addressSchema),
			decimals: z.int().min(0).max(36),
			kind: z.enum(["stable", "volatile"]),
			/** The pair of its feed. A token without one is listed, but not offered. */
			feed: z.string().nullable(),
			noFeedBecause: z.string().exactOptional(),
		}),
	),
	venue: venueNameSchema,
	venues: z.partialRecord(venueNameSchema, venueSchema),
	feeds: z.array(feedSchema),
	/** Chainlink's feed that reports whether a rollup's sequencer is up. */
	sequencerUptimeFeed: sourcedSchema(addressSchema).nullable(),
	infrastructure: z.strictObject({
		multicall3: sourcedSchema(addressSchema),
		deterministicDeployer: sourcedSchema(addressSchema),
		permit2: sourcedSchema(addressSchema),
	}),
	/** Circle's CCTP v2. Absent where it moves no USDC. */
	cctp: z
		.strictObject({
			/** The chain, as Circle numbers it. */
			domain: sourcedSchema(z.int().nonnegative()),
			tokenMessenger: sourcedSchema(addressSchema),
			messageTransmitter: sourcedSchema(addressSchema),
			/** How long a burn on this chain usually takes until it is attested. */
			fastSeconds: factSchema(secondsSchema),
			standardSeconds: factSchema(secondsSchema),
		})
		.exactOptional(),
	fees: z.strictObject({
		/** The minimum tip that the chain's nodes accept. */
		minimumPriorityFeeWei: factSchema(z.string().regex(/^\d+$/)),
		/** Contracts that report what a transaction pays for the chain below. */
		contracts: z.strictObject({
			gasPriceOracle: sourcedSchema(addressSchema).exactOptional(),
			l1Block: sourcedSchema(addressSchema).exactOptional(),
			nodeInterface: sourcedSchema(addressSchema).exactOptional(),
			arbGasInfo: sourcedSchema(addressSchema).exactOptional(),
		}),
	}),
	blockTimeMs: factSchema(z.int().positive()),
	finalizedSeconds: factSchema(secondsSchema),
	/** Whether accounts can delegate to code, without which no wallet can open an order. */
	eip7702: factSchema(z.boolean()),
	terms: z.strictObject({
		finalitySeconds: termSchema(secondsSchema),
		openSeconds: termSchema(secondsSchema),
		fillSeconds: termSchema(secondsSchema),
		refundSeconds: termSchema(secondsSchema),
		depths: termSchema(z.array(z.strictObject({ upToUsd: usdSchema, blocks: z.int().nonnegative() }))),
		unfinalCapUsd: termSchema(usdSchema),
		unreleasedCapUsd: termSchema(usdSchema),
		outflowUsdPerHour: termSchema(usdSchema),
		replaceAfterBlocks: termSchema(z.int().positive()),
	}),
	/** Addresses that are easily mistaken for the right ones. */
	refused: z.array(
		z.strictObject({ address: addressSchema, because: z.string().min(1), sources: sourcesSchema.min(1) }),
	),
	/** The source behind each key that a `sources` list has. */
	sources: z.record(z.string(), z.string().min(1)),
});

const solanaPresetSchema = z.strictObject({
	kind: z.literal("solana"),
	name: z.string().min(1),
	testnet: z.boolean(),
	cluster: z.enum(["mainnet-beta", "devnet"]),
	genesisHash: sourcedSchema(base58Schema),
	native: z.strictObject({ symbol: symbolSchema, decimals: z.literal(9) }),
	wrappedNative: sourcedSchema(base58Schema),
	tokens: z.array(
		z.strictObject({
			symbol: symbolSchema,
			address: sourcedSchema(base58Schema),
			decimals: z.int().min(0).max(18),
			kind: z.literal("stable"),
		}),
	),
	blockTimeMs: factSchema(z.int().positive()),
	finalizedSeconds: factSchema(secondsSchema),
	terms: z.strictObject({ finalitySeconds: termSchema(secondsSchema) }),
	sources: z.record(z.string(), z.string().min(1)),
});

/** The facts about a chain that are known without a request to it. */
export const presetSchema = z
	.discriminatedUnion("kind", [evmPresetSchema, solanaPresetSchema])
	.superRefine((preset, context) => {
		for (const message of presetProblems(preset)) context.addIssue(message);
	});

export type EvmPreset = z.output<typeof evmPresetSchema>;
export type Preset = z.output<typeof presetSchema>;

/** Returns broken references, as sentences. */
function presetProblems(preset: EvmPreset | z.output<typeof solanaPresetSchema>): string[] {
	const problems = [...usedSources(preset)]
		.filter((key) => preset.sources[key] === undefined)
		.map((key) => `sources.${key}: is used but not explained`);
	if (preset.kind === "solana") return problems;
	const pairs = preset.feeds.map(({ pair }) => pair);
	const wanted = [preset.native.feed, ...preset.tokens.flatMap(({ feed }) => feed ?? [])];
	for (const pair of wanted) if (!pairs.includes(pair)) problems.push(`feeds: there is no ${pair}`);
	if (!preset.tokens.some(({ symbol }) => symbol === preset.settlementToken)) {
		problems.push(`settlementToken: there is no token ${preset.settlementToken}`);
	}
	if (preset.venues[preset.venue] === undefined) problems.push(`venue: there is no venue ${preset.venue}`);
	return problems;
}

/** Returns the keys of all sources in the value, at any depth. */
function usedSources(value: unknown): Set<string> {
	if (typeof value !== "object" || value === null) return new Set();
	const found = new Set<string>();
	for (const [name, inner] of Object.entries(value)) {
		const isList = name === "sources" && Array.isArray(inner);
		for (const key of isList ? inner : usedSources(inner)) found.add(String(key));
	}
	return found;
}
