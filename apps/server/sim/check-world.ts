import {
	accountRentLamports,
	programAccountSizes,
	solanaNativeToken,
	unpackDeadlines,
} from "@geoswap/protocol";
import { bytesToHex } from "viem";
import type { Breach } from "../src/audit/read/report.ts";
import { chainOf } from "../src/config/chain-config.ts";
import { auditWorld } from "./audit-world.ts";
import { addLoss, checkLosses, outputUsdCents, readLosses } from "./check-losses.ts";
import { checkProgram, wasOpened } from "./check-program.ts";
import { balanceOf, checkWallets, receivedBy } from "./check-wallets.ts";
import { attesterNames } from "./plan.ts";
import type { SimSwap } from "./sim-swap.ts";
import type { World } from "./world.ts";

type Row = {
	id: string;
	status: string;
	stage: string;
	is_ended: boolean;
	delivered_amount: bigint | null;
	last_fact: string | null;
	/** The time at which the service found that it was too late to deliver. */
	too_late_at: Date | null;
};

export type Checked = {
	violations: string[];
	/**
	 * Swaps by status. `settled-refunded` means that a chain dropped the delivery, and kept it out until it was too late.
	 */
	byStatus: Record<string, number>;
	lossUsdCents: bigint;
	/** Returns true if the breach is about one of those swaps, which the auditor should report. */
	isBrokenByChain: (breach: Breach) => boolean;
};

/** Checks everything that must hold once nothing goes wrong any more and everything had time to end. */
export async function checkWorld(
	world: World,
	{ faultsApplied }: { faultsApplied: Readonly<Record<string, number>> },
): Promise<Checked> {
	const { pool } = world.database;
	const violations: string[] = [];
	const rows = new Map(
		(
			await pool.query<Row>(
				`select s.id, s.status, s.stage, s.ended_at is not null as is_ended, s.delivered_amount,
					(select fact from swap_events e where e.swap_id = s.id order by seq desc limit 1) as last_fact,
					(select min(at) from swap_events e where e.swap_id = s.id and data->>'givingUp' = 'TOO_LATE') as too_late_at
				from swaps s order by s.id`,
			)
		).rows.map((row) => [row.id, row]),
	);
	// All orders of callers are from the service's desk and worth ten refunds, so none may be left to its wallet.
	const { rows: left } = await pool.query<{ order_id: Buffer; reason: string | null }>(
		"select order_id, reason from unknown_orders where outcome = 'left' order by order_id",
	);
	violations.push(
		...left
			.filter(({ order_id }) => world.wallets.swaps.some((swap) => swap.orderId === bytesToHex(order_id)))
			.map(({ order_id, reason }) => `order ${bytesToHex(order_id)} is left to its wallet: ${reason}`),
	);
	const lost = new Set(
		(
			await pool.query<{ order_id: Buffer }>("select order_id from postings where name = 'loss' order by id")
		).rows.map((row) => bytesToHex(row.order_id)),
	);
	const byStatus: Record<string, number> = {};
	const losses = await readLosses(world);
	const forgotten: SimSwap[] = [];
	const keptOut = new Set<string>();
	for (const swap of world.wallets.swaps) {
		const row = swap.uuid === undefined ? undefined : rows.get(swap.uuid);
		const isKeptOut = row !== undefined && isKeptOutByChain(world, swap, row, faultsApplied);
		if (isKeptOut) keptOut.add(row.id);
		const status = isKeptOut ? "settled-refunded" : (row?.status ?? swap.outcome);
		byStatus[status] = (byStatus[status] ?? 0) + 1;
		const isTaken = await wasTaken(world, swap);
		// The chain dropped its deposit, and the restore then erased the whole swap with its op, so only the caller has the
		// bytes to make the deposit again. The delivered amount is the service's loss, like any other by a reorg.
		const isRestored = world.record.restoredAtMs.length > 0;
		const isGone = !row && isRestored && (faultsApplied.reorg ?? 0) > 0 && isTaken === false;
		const unknownLoss = isGone ? outputUsdCents(world, swap) : 0n;
		addLoss(losses, swap.plan.from, unknownLoss);
		if (isGone) forgotten.push(swap);
		const isLoss = unknownLoss > 0n || (swap.orderId !== undefined && lost.has(swap.orderId));
		violations.push(
			...checkSwap(world, { swap, row, isLoss, isKeptOut, isTaken }).map((what) => `#${swap.index} ${what}`),
		);
	}
	violations.push(...checkWallets(world, { rows, lost, keptOut }));
	const uuids = new Set<string | undefined>(world.wallets.swaps.map(({ uuid }) => uuid));
	violations.push(
		...[...rows.keys()].filter((id) => !uuids.has(id)).map((id) => `${id} belongs to no caller`),
	);
	violations.push(...checkCalm(world, rows, faultsApplied));
	violations.push(...(await checkProgram(world, { rows, keptOut })));
	violations.push(...(await checkRest(world)));
	violations.push(...checkSignatures(world));
	const breaches = await withoutForgotten(world, await auditWorld(world), forgotten);
	const isBrokenByChain = ({ invariant, swapId = "" }: Breach) => invariant === "I8" && keptOut.has(swapId);
	const told = breaches.filter(isBrokenByChain);
	if (told.length < keptOut.size) violations.push("a promise is broken, but the audit does not report it");
	violations.push(
		...breaches
			.filter((breach) => !told.includes(breach))
			.map(({ invariant, message }) => `${invariant}: ${message}`),
	);
	violations.push(...checkLosses(world, losses, faultsApplied));
	const lossUsdCents = [...losses.values()].reduce((sum, cents) => sum + cents, 0n);
	return { violations, byStatus, lossUsdCents, isBrokenByChain };
}

function checkSwap(
	world: World,
	{
		swap,
		row,
		isLoss,
		isKeptOut,
		isTaken,
	}: {
		swap: SimSwap;
		row: Row | undefined;
		isLoss: boolean;
		isKeptOut: boolean;
		isTaken: boolean | undefined;
	},
): string[] {
	const { outcome, plan, order } = swap;
	const { output: received, topUp } = receivedBy(world, swap);
	const violations: string[] = [];
	if (outcome === "not-yet") violations.push("was never submitted");
	if (!row || !order) {
		if (received > 0n && !isLoss) violations.push(`has no row, although ${received} were delivered`);
		if (outcome !== "submitted") return violations;
		// A restore may erase a swap that was submitted and not opened, since nothing was taken. An opened one is rebuilt.
		const isForgotten = world.record.restoredAtMs.length > 0 && isTaken === false;
		if (!isForgotten) violations.push("has no row");
		return violations;
	}
	const { status, is_ended, stage, delivered_amount, last_fact } = row;
	const takes = plan.recipient === "takes" || plan.to === "solana";
	const owedTopUp = received > 0n && takes ? order.topUp : 0n;
	if (topUp !== owedTopUp) violations.push(`got a top-up of ${topUp}, and not of ${owedTopUp}`);
	if (status === "pending" || !is_ended) {
		violations.push(`is not terminal: ${status} ${stage}, last ${last_fact}`);
	}
	if (status === "settled" && !isKeptOut) {
		if (received < order.minOutput) violations.push(`is settled with ${received} of ${order.minOutput}`);
		if (received !== delivered_amount) {
			violations.push(`is settled: ${received} were received, but the books say ${delivered_amount}`);
		}
	} else if (received > 0n && status !== "pending" && !isLoss) {
		violations.push(`is ${status}, although ${received} were delivered (last ${last_fact})`);
	}
	return violations;
}

/** The maximum by which a plan sets a worker's clock ahead. */
const maxSkewMs = 5_000;

/**
 * Returns true if a chain broke the promise of a settled swap. A delivery that settled at its depth and was dropped by
 * a deeper reorg is made again if there is time. A chain that takes nothing until the deadline breaks the promise,
 * since the wallet has its input back, and the auditor reports it. So does a chain that drops deposit and delivery
 * together with the wallet's delegation, made by an earlier swap that a restore erased, since the authorization to make
 * the deposit again is lost.
 */
function isKeptOutByChain(
	world: World,
	{ plan, order, orderId, op, recipient, outputToken }: SimSwap,
	{ status, too_late_at }: Row,
	faults: Readonly<Record<string, number>>,
): boolean {
	if (status !== "settled" || !order || !orderId || !faults.reorg) return false;
	if (balanceOf(world, plan.to, outputToken, recipient) > 0n) return false;
	if (plan.from !== "solana" && world.evm[plan.from].escrowStateOf(orderId) === "none") {
		const isAuthorized = op !== undefined && "authorization" in op;
		return world.record.restoredAtMs.length > 0 && !isAuthorized;
	}
	if (!too_late_at) return false;
	const { deadAfterSeconds = 0, finalitySeconds = 0 } = chainOf(world.config, order.destinationChainId) ?? {};
	const marginSeconds = deadAfterSeconds || finalitySeconds;
	const lastFillAt = Number(unpackDeadlines(order.deadlines).fillDeadline) - marginSeconds;
	// The worker's clock may have been fast.
	const isInTime = too_late_at.getTime() + maxSkewMs < lastFillAt * 1_000;
	const isBack = plan.from === "solana" || world.evm[plan.from].escrowStateOf(orderId) === "refunded";
	// The swap's ID is in the calldata. A single transaction means that the service did not try again.
	const calls = world.record.sent.filter(
		({ chain, data }) => chain === plan.to && data.includes(order.swapKey.slice(-32)),
	);
	const isTriedAgain = plan.to === "solana" || new Set(calls.map(({ hash }) => hash)).size > 1;
	return !isInTime && isBack && isTriedAgain;
}

/** Returns whether the swap's chain has its deposit, or had it; undefined if it was never signed. */
async function wasTaken(world: World, { plan, order, orderId }: SimSwap): Promise<boolean | undefined> {
	if (!order || !orderId) return undefined;
	return plan.from === "solana"
		? wasOpened(world, order)
		: world.evm[plan.from].escrowStateOf(orderId) !== "none";
}

/** The lamports that the vault pays for the record of an order from another chain. */
const recordRent = accountRentLamports(programAccountSizes.record);

/**
 * Removes the breaches that swaps explain which a restore made the service forget. On Solana these breaches are
 * expected, because a record does not contain the terms of its order. The auditor then finds that an output and a
 * record's rent left the vault without an order, and that an unknown order was filled or voided in the same slot.
 */
async function withoutForgotten(
	world: World,
	breaches: readonly Breach[],
	forgotten: readonly SimSwap[],
): Promise<Breach[]> {
	const rest = [...breaches];
	const take = (isIt: (message: string) => boolean) => {
		const at = rest.findIndex(({ message }) => isIt(message));
		return at < 0 ? undefined : rest.splice(at, 1)[0]?.message;
	};
	for (const swap of forgotten) {
		const { plan, orderId, outputToken } = swap;
		const record = plan.to === "solana" && orderId ? await world.solana.recordOf(orderId) : undefined;
		if (!record) continue;
		const { output, topUp } = receivedBy(world, swap);
		const gone = new Map([[outputToken, output]]);
		gone.set(solanaNativeToken, (gone.get(solanaNativeToken) ?? 0n) + topUp + recordRent);
		for (const [token, amount] of gone) {
			const left = `${amount} of ${token} left the vault on Solana for no order, in slot `;
			const slot = take((message) => message.startsWith(left))?.slice(left.length);
			const decided = `an order that nobody knows was ${record.state} in slot ${slot}`;
			if (slot) take((message) => message === decided);
		}
	}
	return rest;
}

/**
 * Checks that everything deliverable is delivered if there are no faults, because a service that refunds everything
 * would pass all other checks.
 */
function checkCalm(
	world: World,
	rows: ReadonlyMap<string, Row>,
	faults: Readonly<Record<string, number>>,
): string[] {
	if (Object.keys(faults).length > 0) return [];
	const isHonest = ({ from, behaviour }: SimSwap["plan"]) =>
		behaviour !== "moves-tokens" &&
		behaviour !== "opens-unsubmitted" &&
		(behaviour !== "delegates-elsewhere" || from === "solana");
	const isDeliverable = ({ plan }: SimSwap) =>
		(plan.recipient === "takes" || plan.to === "solana") && isHonest(plan);
	return world.wallets.swaps.filter(isDeliverable).flatMap(({ index, uuid = "", outcome }) => {
		const status = rows.get(uuid)?.status ?? outcome;
		return status === "settled" ? [] : [`#${index} is ${status}, although nothing went wrong`];
	});
}

/** Checks that no job is still waiting and no inventory is still reserved. */
async function checkRest(world: World): Promise<string[]> {
	const { pool } = world.database;
	const { rows: jobs } = await pool.query<{ kind: string; state: string; swap_id: string }>(
		`select kind, state, swap_id from jobs where state in ('queued', 'sent', 'unattested')
			and swap_id in (select id from swaps where ended_at is not null) order by swap_id, kind`,
	);
	const { rows: held } = await pool.query<{ swap_id: string }>("select swap_id from reservations order by 1");
	const { rows: reserved } = await pool.query<{ reserved: bigint }>(
		"select reserved from inventory where reserved <> 0 order by chain_id, token",
	);
	return [
		...jobs.map(({ kind, state, swap_id }) => `${named(world, swap_id)}: its job ${kind} is still ${state}`),
		...held.map(({ swap_id }) => `${named(world, swap_id)}: inventory is still reserved for it`),
		...reserved.map((row) => `${row.reserved} of inventory is reserved for nobody`),
	];
}

function named(world: World, uuid: string): string {
	const swap = world.wallets.swaps.find((candidate) => candidate.uuid === uuid);
	return swap ? `#${swap.index}` : uuid;
}

/**
 * Checks that no attester signs both release and refund of one order, and that no two attesters do whose nodes are
 * honest, even if late.
 */
function checkSignatures({ signed }: World): string[] {
	const [liedTo] = attesterNames;
	return [...signed].flatMap(([orderId, words]) => {
		const by = (word: "Release" | "Refund") =>
			attesterNames.filter((attester) => words.has(`${attester} ${word}`));
		const refunding = by("Refund");
		return by("Release")
			.filter((name) => refunding.some((other) => other === name || (name !== liedTo && other !== liedTo)))
			.map(
				(name) => `order ${orderId}: ${name} signed its release, but ${refunding.join()} signed its refund`,
			);
	});
}
