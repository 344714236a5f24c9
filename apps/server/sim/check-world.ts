import { type SolanaAddress, toSolanaWord } from "@geoswap/protocol";
import { type Address, bytesToHex, isAddress } from "viem";
import type { Breach } from "../src/audit/report.ts";
import { auditWorld } from "./audit-world.ts";
import { usdE18Of } from "./sim-prices.ts";
import type { SimSwap } from "./sim-wallets.ts";
import type { World } from "./world.ts";

type Row = {
	id: string;
	status: string;
	stage: string;
	is_ended: boolean;
	delivered_amount: bigint | null;
	last_fact: string | null;
};

/** Orders of which it was decided that their wallets take the input back themselves. */
type Left = ReadonlySet<string>;

export type Checked = { violations: string[]; byStatus: Record<string, number>; lossUsdCents: bigint };

/** All that must hold of a world in which nothing goes wrong any more and everything had time to end. */
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
					(select fact from swap_events e where e.swap_id = s.id order by seq desc limit 1) as last_fact
				from swaps s order by s.id`,
			)
		).rows.map((row) => [row.id, row]),
	);
	const left: Left = new Set(
		(
			await pool.query<{ order_id: Buffer }>("select order_id from unknown_orders where outcome = 'left'")
		).rows.map((row) => bytesToHex(row.order_id)),
	);
	const lost = new Set(
		(
			await pool.query<{ order_id: Buffer }>("select order_id from postings where name = 'loss' order by id")
		).rows.map((row) => bytesToHex(row.order_id)),
	);
	const byStatus: Record<string, number> = {};
	let lossUsdCents = await readLossUsdCents(world);
	const forgotten: SimSwap[] = [];
	for (const swap of world.wallets.swaps) {
		const row = swap.uuid === undefined ? undefined : rows.get(swap.uuid);
		const status = row?.status ?? swap.outcome;
		byStatus[status] = (byStatus[status] ?? 0) + 1;
		// Its caller may have come again after that: such a row fails, as its deposit is not there, and knows no delivery.
		const isUnknowing =
			!row || (swap.plan.to === "solana" && row.status === "failed" && row.last_fact === "not-opened");
		const unknownLoss = isUnknowing ? forgottenUsdCents(world, swap, faultsApplied) : 0n;
		lossUsdCents += unknownLoss;
		const isLoss = unknownLoss > 0n;
		if (isLoss && !row) forgotten.push(swap);
		violations.push(...checkSwap(world, { swap, row, left, isLoss }).map((what) => `#${swap.index} ${what}`));
	}
	violations.push(...checkWallets(world, { rows, left, lost }));
	violations.push(...(await checkRest(world)));
	violations.push(...checkSignatures(world));
	violations.push(...world.engine.mismatches);
	const breaches = withoutForgotten(world, await auditWorld(world), forgotten);
	violations.push(...breaches.map(({ invariant, message }) => `${invariant}: ${message}`));
	violations.push(...checkLoss(world, lossUsdCents, faultsApplied));
	return { violations, byStatus, lossUsdCents };
}

function checkSwap(
	world: World,
	{ swap, row, left, isLoss }: { swap: SimSwap; row: Row | undefined; left: Left; isLoss: boolean },
): string[] {
	const { outcome, plan, order, orderId } = swap;
	const received = balanceOf(world, plan.to, swap.outputToken, swap.recipient);
	const violations: string[] = [];
	if (outcome === "not-yet") violations.push("was never submitted");
	if (!row || !order) {
		if (received > 0n && !isLoss) violations.push(`has no row, and ${received} were delivered`);
		if (outcome !== "submitted") return violations;
		// A restore may forget what was submitted and not opened: nothing was taken. What was opened is rebuilt, or left to
		// its wallet; and on Solana its caller asked again until it had a row, or an answer that it expired.
		const isForgotten = world.record.restoredAtMs.length > 0 && plan.from !== "solana";
		const isNothingTaken =
			plan.from !== "solana" &&
			orderId !== undefined &&
			(left.has(orderId) || world.evm[plan.from].escrowStateOf(orderId) === "none");
		if (!isForgotten || !isNothingTaken) violations.push("has no row");
		return violations;
	}
	const { status, is_ended, stage, delivered_amount, last_fact } = row;
	if (status === "pending" || !is_ended) {
		violations.push(`is not terminal: ${status} ${stage}, last ${last_fact}`);
	}
	if (status === "settled") {
		if (received < order.minOutput) violations.push(`is settled with ${received} of ${order.minOutput}`);
		if (received !== delivered_amount) {
			violations.push(`is settled: ${received} received, and ${delivered_amount} by the books`);
		}
	} else if (received > 0n && status !== "pending" && !isLoss) {
		violations.push(`is ${status}, and ${received} were delivered (last ${last_fact})`);
	}
	return violations;
}

/**
 * What was delivered for a deposit that its chain dropped, by a service that then forgot all of it, op and all: nobody but
 * the caller has the bytes that would make the deposit again. The service's loss, as any other of a reorganization.
 */
function forgottenUsdCents(
	world: World,
	{ plan, orderId, outputToken, recipient }: SimSwap,
	faults: Readonly<Record<string, number>>,
): bigint {
	const isForgotten = world.record.restoredAtMs.length > 0 && (faults.reorg ?? 0) > 0;
	if (!isForgotten || plan.from === "solana" || orderId === undefined) return 0n;
	if (world.evm[plan.from].escrowStateOf(orderId) !== "none") return 0n;
	const { chainId } = plan.to === "solana" ? world.solana : world.evm[plan.to];
	return usdCentsOf(world, {
		chainId,
		token: wordOf(outputToken),
		amount: balanceOf(world, plan.to, outputToken, recipient),
	});
}

/**
 * The auditor is right about such a loss on Solana, where nobody can tell whose delivery it was: money that left the vault
 * for no order, and a mark of the order in the same slot. Each swap that was lost explains one of either, of its amount.
 */
function withoutForgotten(
	world: World,
	breaches: readonly Breach[],
	forgotten: readonly SimSwap[],
): Breach[] {
	const rest = [...breaches];
	const take = (isIt: (message: string) => boolean) => {
		const at = rest.findIndex(({ message }) => isIt(message));
		return at < 0 ? undefined : rest.splice(at, 1)[0]?.message;
	};
	for (const { plan, outputToken, recipient } of forgotten) {
		if (plan.to !== "solana") continue;
		const amount = balanceOf(world, plan.to, outputToken, recipient);
		const left = `${amount} of ${outputToken} left the vault on Solana for no order, in slot `;
		const slot = take((message) => message.startsWith(left))?.slice(left.length);
		if (slot) take((message) => message === `an order that nobody knows was filled in slot ${slot}`);
	}
	return rest;
}

/** Each wallet has what it was given, less the inputs of swaps that were settled and what it gave away itself. */
function checkWallets(
	world: World,
	{ rows, left, lost }: { rows: ReadonlyMap<string, Row>; left: Left; lost: ReadonlySet<string> },
): string[] {
	const expected = new Map<string, { swap: SimSwap; amount: bigint; indexes: number[] }>();
	for (const swap of world.wallets.swaps) {
		const key = `${swap.plan.from} ${swap.wallet} ${swap.inputToken}`;
		const sum = expected.get(key) ?? { swap, amount: 0n, indexes: [] };
		const row = swap.uuid === undefined ? undefined : rows.get(swap.uuid);
		// What was delivered for a deposit that its chain dropped is the service's loss, which has a cap of its own.
		const isDropped = swap.orderId !== undefined && lost.has(swap.orderId);
		const isGiven = isDropped ? false : row ? row.status === "settled" : isLeft(world, swap, left);
		const moved = swap.sink ? balanceOf(world, swap.plan.from, swap.inputToken, swap.sink) : 0n;
		sum.amount += (isGiven ? 0n : swap.inputAmount) - moved;
		sum.indexes.push(swap.index);
		expected.set(key, sum);
	}
	return [...expected.values()].flatMap(({ swap, amount, indexes }) => {
		const isPaying =
			swap.plan.input === "native" && swap.plan.from !== "solana" && swap.plan.behaviour !== "plain";
		const has = balanceOf(world, swap.plan.from, swap.inputToken, swap.wallet);
		if (has === amount || isPaying) return [];
		const names = indexes.map((index) => `#${index}`).join(" ");
		return [`the wallet of ${names} has ${has} of ${swap.inputToken}, and should have ${amount}`];
	});
}

/** Whether its order is open and left to its wallet, which can take the input back later, by itself. */
function isLeft({ evm }: World, { plan, orderId }: SimSwap, left: Left): boolean {
	if (plan.from === "solana" || orderId === undefined || !left.has(orderId)) return false;
	return evm[plan.from].escrowStateOf(orderId) === "opened";
}

/** Nothing is left that waits, or that is held for someone. */
async function checkRest(world: World): Promise<string[]> {
	const { pool } = world.database;
	const { rows: jobs } = await pool.query<{ kind: string; state: string; swap_id: string }>(
		`select kind, state, swap_id from jobs where state in ('queued', 'sent', 'unattested')
			and swap_id in (select id from swaps where ended_at is not null) order by swap_id, kind`,
	);
	const { rows: held } = await pool.query<{ swap_id: string }>("select swap_id from reservations order by 1");
	const { rows: reserved } = await pool.query<{ reserved: bigint }>(
		"select reserved from stock where reserved <> 0 order by chain_id, token",
	);
	const swaps = world.engine.unfinished().filter((name) => name.startsWith("swap"));
	return [
		...jobs.map(({ kind, state, swap_id }) => `${named(world, swap_id)}: its job ${kind} is still ${state}`),
		...held.map(({ swap_id }) => `${named(world, swap_id)}: stock is still reserved for it`),
		...reserved.map((row) => `${row.reserved} of stock is reserved for nobody`),
		...swaps.map((name) => `the engine still runs ${name}`),
	];
}

function named(world: World, uuid: string): string {
	const swap = world.wallets.swaps.find((candidate) => candidate.uuid === uuid);
	return swap ? `#${swap.index}` : uuid;
}

/** No attester says of one order that it was delivered and that it never will be. */
function checkSignatures({ signed }: World): string[] {
	return [...signed].flatMap(([orderId, words]) =>
		[...words]
			.filter((word) => word.endsWith("Release") && words.has(word.replace("Release", "Refund")))
			.map((word) => `order ${orderId}: ${word} and refund are both signed`),
	);
}

/** What the service lost by the books: outputs without an input. */
async function readLossUsdCents({ database, config }: World): Promise<bigint> {
	const { rows } = await database.pool.query<{ chain_id: number; token: Buffer; amount: bigint }>(
		`select chain_id, token, sum(amount)::numeric as amount from entries where account = 'loss'
		group by 1, 2 order by 1, 2`,
	);
	return rows.reduce(
		(total, { chain_id, token, amount }) =>
			total + usdCentsOf({ config }, { chainId: chain_id, token: bytesToHex(token), amount }),
		0n,
	);
}

/** At the world's usual prices. */
function usdCentsOf(
	{ config }: Pick<World, "config">,
	{ chainId, token, amount }: { chainId: number; token: string; amount: bigint },
): bigint {
	const deployments = [...config.chains, ...(config.solana ? [config.solana] : [])];
	const { assets } = deployments.find((chain) => chain.chainId === chainId)?.deployment ?? { assets: [] };
	const asset = [...assets].find(({ address }) => wordOf(address) === token);
	if (!asset) throw new Error(`what was lost on chain ${chainId} is no asset`);
	return (amount * usdE18Of(asset.symbol, asset, 0)) / 10n ** BigInt(asset.decimals) / 10n ** 16n;
}

const wordOf = (address: string) =>
	isAddress(address) ? address.toLowerCase() : toSolanaWord(address as SolanaAddress);

/** Only a chain that drops what it had can cost the service something, and never more than what may be unfinal. */
function checkLoss(
	{ config }: World,
	lossUsdCents: bigint,
	faults: Readonly<Record<string, number>>,
): string[] {
	const caps = [...config.chains, ...(config.solana ? [config.solana] : [])].map(
		({ unfinalCapUsd }) => unfinalCapUsd,
	);
	const most = faults.reorg ? BigInt(caps.reduce((sum, cap) => sum + cap, 0)) * 100n : 0n;
	return lossUsdCents > most ? [`${lossUsdCents} cents are lost, and at most ${most} may be`] : [];
}

function balanceOf(world: World, chain: SimSwap["plan"]["from"], token: string, holder: string): bigint {
	return chain === "solana"
		? world.solana.balanceOf(token as SolanaAddress, holder as SolanaAddress)
		: world.evm[chain].balanceOf(token as Address, holder as Address);
}
