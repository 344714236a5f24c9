import { type Order, wordOfAddress } from "@geoswap/protocol";
import { type Hex, zeroHash } from "viem";
import type { DemandMinute } from "../../src/treasury/need.ts";
import type { Books } from "./books.ts";
import type { WantedSwap } from "./flow.ts";
import type { Market } from "./market.ts";
import type { WorldChain } from "./world-chain.ts";
import type { WorldClock } from "./world-clock.ts";
import type { Cause } from "./world-event.ts";
import {
	chains as allTerms,
	type ChainTerms,
	daySeconds,
	gasUnits,
	native,
	netFeeCentibps,
	weekSeconds,
} from "./world-terms.ts";

/** Serves the swaps of a world from the vaults, and notes what was requested. */
export type SwapService = {
	request: (swap: WantedSwap) => void;
	/** Keeps settlement tokens of a vault for a swap or a move, and gives them back. */
	reserve: (chain: number, amount: bigint) => void;
	free: (chain: number) => bigint;
	/** By chain, the oldest minute first. */
	demand: readonly DemandMinute[][];
	/** The 95th percentile of what the chain's relayer spent in an hour. */
	spentPerHour: (chain: number) => bigint;
	takeGas: (chain: number, units: number, causes: readonly Cause[]) => boolean;
	/** Volumes of each day. */
	volumes: readonly { requested: bigint; served: bigint }[];
	stalledMinutes: () => number;
};

type Kind = "open" | "fill" | "release";
type Job = { kind: Kind; cause: Cause; run: () => void };

const bundleSeconds = 30;
const depthSeconds = 24;
const maxBundle = 20;
const retrySeconds = 60;
const gasHours = 72;
const demandMinutes = 24 * 60;
const maxDemandRows = 500;

export function createSwapService({
	clock,
	chains,
	market,
	books,
}: {
	clock: WorldClock;
	chains: readonly WorldChain[];
	market: Market;
	books: Books;
}): SwapService {
	const reserved = chains.map(() => 0n);
	const queues = chains.map((): Job[] => []);
	const isWaiting = chains.map(() => false);
	const demand = chains.map((): DemandMinute[] => []);
	const gasByHour = chains.map((): bigint[] => []);
	const spent = chains.map(() => ({ hour: -1, wei: 0n }));
	const volumes = Array.from({ length: weekSeconds / daySeconds }, () => ({ requested: 0n, served: 0n }));
	let swaps = 0;
	let stalled = 0;

	const terms = (i: number) => allTerms[i] as (typeof allTerms)[number];
	const chain = (i: number) => chains[i] as WorldChain;
	const free = (i: number) => chain(i).vault(terms(i).usdc) - (reserved[i] ?? 0n);
	const reserve = (i: number, amount: bigint) => {
		reserved[i] = (reserved[i] ?? 0n) + amount;
	};

	function takeGas(i: number, units: number, causes: readonly Cause[]): boolean {
		const costWei = chain(i).takeGas(units);
		if (costWei === undefined) return false;
		const hour = Math.floor(clock.now() / 3_600);
		const hours = gasByHour[i] as bigint[];
		while (hours.length <= hour) hours.push(0n);
		hours[hour] = (hours[hour] ?? 0n) + costWei;
		books.recordGas({ chainId: terms(i).chainId, second: clock.now(), costWei, causes });
		return true;
	}

	function spentPerHour(i: number): bigint {
		const hour = Math.floor(clock.now() / 3_600);
		const known = spent[i];
		if (known?.hour === hour) return known.wei;
		const wei = percentile95(gasByHour[i] ?? [], { hour, terms: terms(i) });
		spent[i] = { hour, wei };
		return wei;
	}

	function queue(i: number, job: Job): void {
		queues[i]?.push(job);
		if (isWaiting[i]) return;
		isWaiting[i] = true;
		clock.at(clock.now() + bundleSeconds, () => runLane(i));
	}

	/** Sends one transaction for each kind of job that waits. */
	function runLane(i: number): void {
		isWaiting[i] = false;
		const waiting = queues[i] ?? [];
		queues[i] = [];
		let isStalled = false;
		for (const kind of ["release", "fill", "open"] satisfies Kind[]) {
			const jobs = waiting.filter((job) => job.kind === kind);
			while (jobs.length > 0) {
				const bundle = jobs.splice(0, maxBundle);
				const { base, each } = gasUnits[kind];
				const causes = bundle.map(({ cause }) => cause);
				if (takeGas(i, base + each * bundle.length, causes)) for (const job of bundle) job.run();
				else {
					isStalled = true;
					queues[i]?.push(...bundle);
				}
			}
		}
		if (!isStalled) return;
		stalled++;
		isWaiting[i] = true;
		clock.at(clock.now() + retrySeconds, () => runLane(i));
	}

	function request(swap: WantedSwap): void {
		const { from, to, size } = swap;
		note(to, { outflow: size, inflow: 0n });
		if (!swap.paysEth) note(from, { outflow: 0n, inflow: size });
		const volume = volumes[Math.floor(clock.now() / daySeconds)];
		if (volume) volume.requested += size;
		if (free(to) < size) return;
		if (volume) volume.served += size;
		reserve(to, size);
		const order = orderOf(swap);
		const name = String(swaps++);
		const cause: Cause = `swap ${name}`;
		const { now } = clock;
		queue(from, { kind: "open", cause, run: opened });

		function opened(): void {
			chain(from).open(order, name);
			clock.at(now() + depthSeconds, () => queue(to, { kind: "fill", cause, run: filled }));
		}
		function filled(): void {
			const delivered = swap.receivesEth ? market.buyEth(terms(to), size, now()) : size;
			reserve(to, -size);
			chain(to).fill(order, name, size, delivered);
			clock.at(now() + terms(to).finalSeconds + 60, () =>
				queue(from, { kind: "release", cause, run: () => chain(from).release(order, name) }),
			);
		}
	}

	function note(i: number, { outflow, inflow }: { outflow: bigint; inflow: bigint }): void {
		const rows = demand[i] as DemandMinute[];
		const minute = Math.floor(clock.now() / 60);
		const last = rows.at(-1);
		if (last?.minute === minute) {
			last.outflow += outflow;
			last.inflow += inflow;
			return;
		}
		rows.push({ minute, outflow, inflow });
		// The service keeps a week. The planner looks at a day, and a fast world keeps little more.
		if (rows.length > 2 * maxDemandRows)
			rows.splice(
				0,
				rows.findIndex((row) => row.minute >= minute - demandMinutes),
			);
	}

	/** Returns the order of a swap, whose input pays for the size, the fee and the gas of all three transactions. */
	function orderOf({ from, to, size, paysEth, receivesEth }: WantedSwap): Order {
		const second = clock.now();
		const eth = market.feedE18("ETH", second);
		const gasWei = (["open", "fill", "release"] satisfies Kind[]).reduce((sum, kind) => {
			const units = BigInt(gasUnits[kind].base + gasUnits[kind].each);
			return sum + units * market.gasPriceWei(terms(kind === "fill" ? to : from), second);
		}, 0n);
		const fee = (size * BigInt(netFeeCentibps)) / 1_000_000n;
		const usdc = size + fee + (gasWei * eth) / 10n ** 30n;
		const token = (i: number, isEth: boolean) => (isEth ? native : terms(i).usdc);
		return {
			...blankOrder,
			originChainId: BigInt(terms(from).chainId),
			destinationChainId: BigInt(terms(to).chainId),
			inputToken: word(from, token(from, paysEth)),
			inputAmount: paysEth ? (usdc * 10n ** 30n) / eth : usdc,
			outputToken: word(to, token(to, receivesEth)),
			originVault: word(from, terms(from).vault),
			destinationVault: word(to, terms(to).vault),
		};
	}
	const words = new Map<Hex, Hex>();
	function word(i: number, address: Hex): Hex {
		const known = words.get(address);
		if (known) return known;
		const made = wordOfAddress(terms(i).chainId, address);
		words.set(address, made);
		return made;
	}

	return {
		request,
		reserve,
		free,
		takeGas,
		demand,
		spentPerHour,
		volumes,
		stalledMinutes: () => stalled,
	};
}

/** The parts of an order that these worlds do not use. */
const blankOrder = {
	wallet: zeroHash,
	minOutput: 0n,
	recipient: zeroHash,
	topUp: 0n,
	escrow: zeroHash,
	attesterSet: zeroHash,
	swapKey: zeroHash,
	deadlines: 0n,
};

/** Returns the 95th percentile of what was spent in an hour. */
function percentile95(
	gasByHour: readonly bigint[],
	{ hour, terms }: { hour: number; terms: ChainTerms },
): bigint {
	const whole = gasByHour.slice(Math.max(0, hour - gasHours), hour);
	if (whole.length === 0) return terms.gasPerHourWei;
	const sorted = whole.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
	return sorted[Math.floor(0.95 * (sorted.length - 1))] ?? 0n;
}
