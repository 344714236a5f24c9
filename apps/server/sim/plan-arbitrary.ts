import fc from "fast-check";
import {
	type AssetName,
	attesterNames,
	type ChainName,
	type EvmChainName,
	type Fault,
	type Plan,
	type SwapPlan,
	type WalletBehaviour,
	workerNames,
} from "./plan.ts";

export type PlanSizes = {
	swaps: number;
	faults?: number | undefined;
	/** The number of acts of strangers, as in a plan. */
	strangers?: number | undefined;
};

/** Returns the plan of a seed, which is always the same. */
export function planOfSeed(seed: number, sizes: PlanSizes): Plan {
	const [plan] = fc.sample(planArbitrary(seed, sizes), { seed, numRuns: 1, unbiased: true });
	if (!plan) throw new Error("one plan was requested");
	return plan;
}

/**
 * Returns plans for a seed. A failing plan shrinks by leaving out faults, then swaps, then by smaller numbers and
 * plainer kinds. Run with `unbiased: true`, its first value is `planOfSeed`.
 */
export function planArbitrary(seed: number, { swaps, faults, strangers }: PlanSizes): fc.Arbitrary<Plan> {
	const hostileMs = 90_000 + 1_000 * swaps;
	const bursts = Math.ceil(swaps / 30);
	const faultCount = faults ?? 3 + Math.ceil(swaps / 2);
	return fc
		.tuple(
			new ShrinkingList(faultArbitrary(hostileMs, bursts), { length: faultCount, least: 0 }),
			// The last swaps are submitted while there are still faults.
			new ShrinkingList(swapArbitrary(hostileMs - 30_000, bursts), { length: swaps, least: 1 }),
		)
		.map(([faults, swaps]) => ({ seed, swaps, faults, hostileMs, ...(strangers && { strangers }) }));
}

/**
 * Returns times of which most coincide. Swaps come in bursts, so that lanes have several jobs queued together, and
 * faults come while these are in flight. An event that is alone in its world seldom meets anything.
 */
function timeArbitrary({
	spanMs,
	bursts,
	burstMs,
}: {
	spanMs: number;
	bursts: number;
	burstMs: number;
}): fc.Arbitrary<number> {
	const inBurst = fc
		.tuple(fc.nat(bursts - 1), fc.nat(burstMs))
		.map(([burst, ms]) => Math.min(spanMs, firstBurstMs + burst * betweenBurstsMs + ms));
	return fc.oneof(
		{ withCrossShrink: true },
		{ weight: 1, arbitrary: fc.nat(spanMs) },
		{ weight: 2, arbitrary: inBurst },
	);
}

const firstBurstMs = 5_000;
const betweenBurstsMs = 60_000;

function swapArbitrary(spanMs: number, bursts: number): fc.Arbitrary<SwapPlan> {
	const route = fc.oneof(
		{ weight: 7, arbitrary: fc.constant<[ChainName, ChainName]>(["east", "west"]) },
		{ weight: 2, arbitrary: fc.constant<[ChainName, ChainName]>(["west", "east"]) },
		{ weight: 2, arbitrary: fc.constant<[ChainName, ChainName]>(["east", "east"]) },
		{ weight: 3, arbitrary: fc.constant<[ChainName, ChainName]>(["east", "solana"]) },
		{ weight: 2, arbitrary: fc.constant<[ChainName, ChainName]>(["solana", "west"]) },
		{ weight: 1, arbitrary: fc.constant<[ChainName, ChainName]>(["solana", "solana"]) },
	);
	const asset = () =>
		fc.oneof(
			{ weight: 4, arbitrary: fc.constant<AssetName>("stable") },
			{ weight: 2, arbitrary: fc.constant<AssetName>("native") },
			{ weight: 1, arbitrary: fc.constant<AssetName>("volatile") },
		);
	return fc
		.record({
			behaviour: fc.oneof(
				{ withCrossShrink: true },
				{ weight: 10, arbitrary: fc.constant<WalletBehaviour>("plain") },
				{ weight: 3, arbitrary: fc.constant<WalletBehaviour>("stale-authorization") },
				{ weight: 1, arbitrary: fc.constant<WalletBehaviour>("moves-tokens") },
				{ weight: 1, arbitrary: fc.constant<WalletBehaviour>("opens-itself") },
				{ weight: 1, arbitrary: fc.constant<WalletBehaviour>("front-run") },
				{ weight: 1, arbitrary: fc.constant<WalletBehaviour>("reported-unopened") },
				{ weight: 1, arbitrary: fc.constant<WalletBehaviour>("delegates-elsewhere") },
				{ weight: 1, arbitrary: fc.constant<WalletBehaviour>("opens-unsubmitted") },
			),
			recipient: fc.oneof(
				{ withCrossShrink: true },
				{ weight: 4, arbitrary: fc.constant<SwapPlan["recipient"]>("takes") },
				{ weight: 1, arbitrary: fc.constant<SwapPlan["recipient"]>("refuses") },
			),
			route,
			input: asset(),
			output: asset(),
			wallet: fc.nat(5),
			// Most swaps are small, and some have to wait for finality.
			usdCents: fc.oneof(
				{ weight: 4, arbitrary: fc.integer({ min: 20_00, max: 2_000_00 }) },
				{ weight: 1, arbitrary: fc.integer({ min: 20_00, max: 20_000_00 }) },
			),
			oddUnits: fc.nat(99_999),
			atMs: timeArbitrary({ spanMs, bursts, burstMs: 3_000 }),
		})
		.map(({ route: [from, to], input, output, ...rest }): SwapPlan => {
			const isSame =
				from === to && (input === output || (from === "solana" && input !== "stable" && output !== "stable"));
			return { ...rest, from, to, input, output: isSame ? otherThan(input) : output };
		});
}

const otherThan = (asset: AssetName): AssetName => (asset === "stable" ? "native" : "stable");

function faultArbitrary(hostileMs: number, bursts: number): fc.Arbitrary<Fault> {
	const atMs = timeArbitrary({ spanMs: hostileMs, bursts, burstMs: 25_000 });
	const forMs = fc.integer({ min: 500, max: 45_000 });
	const chain = fc.constantFrom<ChainName[]>("east", "west", "east", "west", "solana");
	const evmChain = fc.constantFrom<EvmChainName[]>("east", "west");
	const worker = fc.constantFrom(...workerNames);
	const attester = fc.constantFrom(...attesterNames);
	const percent = fc.oneof(fc.constant(100), fc.integer({ min: 20, max: 100 }));
	const of = <K extends Fault["kind"]>(
		kind: K,
		weight: number,
		fields: { [F in keyof Omit<Extract<Fault, { kind: K }>, "kind">]: fc.Arbitrary<unknown> },
	) => ({
		weight,
		arbitrary: fc.record({ kind: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<Fault>,
	});
	return fc
		.oneof(
			of("crash", 6, {
				process: worker,
				atMs,
				at: fc.oneof(
					fc.record({ events: fc.integer({ min: 1, max: 40 }) }),
					fc.constant("broadcast" as const),
				),
				downMs: fc.integer({ min: 100, max: 20_000 }),
			}),
			of("reorg", 7, {
				chain,
				atMs,
				depth: fc.integer({ min: 1, max: 8 }),
				keepPercent: fc.oneof(fc.constant(0), fc.nat(100)),
			}),
			of("drop", 2, { chain, atMs, percent }),
			of("hold-back", 4, { chain, atMs, forMs: fc.integer({ min: 500, max: 60_000 }), percent }),
			of("foreign-transaction", 1, { chain: evmChain, atMs, how: fc.constantFrom("replaces", "next") }),
			of("rpc", 5, {
				chain,
				provider: fc.constantFrom("first", "second"),
				of: fc.constantFrom("workers", "attesters"),
				how: fc.constantFrom("down", "slow", "stale", "lies"),
				atMs,
				forMs,
			}),
			of("finality-stall", 1, { chain, atMs, forMs }),
			of("gas-spike", 3, { chain, atMs, forMs, multiple: fc.integer({ min: 2, max: 20 }) }),
			of("clock-skew", 1, {
				process: fc.oneof(worker, attester),
				atMs,
				forMs,
				byMs: fc.integer({ min: -5_000, max: 5_000 }),
			}),
			of("attester", 2, { process: attester, how: fc.constantFrom("down", "slow"), atMs, forMs }),
			of("engine", 1, { atMs, forMs }),
			of("pokes", 2, { how: fc.constantFrom("lost", "doubled"), atMs, forMs, percent }),
			{
				weight: 2,
				arbitrary: fc.record({
					kind: fc.constant("database" as const),
					process: worker,
					how: fc.constant("answer-lost" as const),
					atMs,
					statements: fc.integer({ min: 1, max: 40 }),
				}),
			},
			{
				weight: 1,
				arbitrary: fc.record({
					kind: fc.constant("database" as const),
					process: worker,
					how: fc.constant("down" as const),
					atMs,
					forMs,
				}),
			},
			of("restore", 3, { atMs, backMs: fc.integer({ min: 1_000, max: 60_000 }) }),
			of("price", 2, { atMs, forMs, bps: fc.integer({ min: -800, max: 800 }) }),
		)
		.map((fault) => endedBy(fault, hostileMs));
}

/** Shortens a fault so that it is over when the hostile time ends. */
function endedBy(fault: Fault, hostileMs: number): Fault {
	if ("forMs" in fault) return { ...fault, forMs: Math.min(fault.forMs, hostileMs - fault.atMs) };
	if (fault.kind === "crash") return { ...fault, downMs: Math.min(fault.downMs, hostileMs - fault.atMs) };
	return fault;
}

/**
 * A list that always has the full length, so that a run has the requested size. It shrinks by a half, then by a
 * quarter, down to one item at a time, and only then are the items themselves shrunk.
 */
class ShrinkingList<T> extends fc.Arbitrary<T[]> {
	private readonly item: fc.Arbitrary<T>;
	private readonly length: number;
	private readonly least: number;

	constructor(item: fc.Arbitrary<T>, { length, least }: { length: number; least: number }) {
		super();
		this.item = item;
		this.length = length;
		this.least = least;
	}

	generate(random: fc.Random, bias: number | undefined): fc.Value<T[]> {
		return listOf(Array.from({ length: this.length }, () => this.item.generate(random, bias)));
	}

	canShrinkWithoutContext(value: unknown): value is T[] {
		return Array.isArray(value) && value.length === 0;
	}

	shrink(_: T[], context: unknown): fc.Stream<fc.Value<T[]>> {
		return fc.stream(this.smaller((context ?? []) as fc.Value<T>[]));
	}

	private *smaller(items: fc.Value<T>[]): IterableIterator<fc.Value<T[]>> {
		for (let cut = items.length; cut >= 1; cut = cut === 1 ? 0 : Math.ceil(cut / 2)) {
			for (let at = 0; at < items.length; at += cut) {
				const rest = [...items.slice(0, at), ...items.slice(at + cut)];
				if (rest.length >= this.least) yield listOf(rest);
			}
		}
		for (const [at, item] of items.entries()) {
			for (const smaller of this.item.shrink(item.value, item.context)) {
				yield listOf(items.with(at, smaller));
			}
		}
	}
}

function listOf<T>(items: fc.Value<T>[]): fc.Value<T[]> {
	return new fc.Value(
		items.map(({ value }) => value),
		items,
	);
}
