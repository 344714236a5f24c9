import {
	newSwapUuid,
	type Order,
	orderId,
	orderToJson,
	packDeadlines,
	type SwapUuid,
	toSolanaWord,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import { bytesToHex, type Hex, hexToBytes, keccak256, numberToHex, toHex } from "viem";
import { anyOrder } from "../../../../packages/protocol/vectors/read-vectors.ts";
import type { ChainConfig } from "../../src/config/chain-config.ts";
import type { ConsoleConfig } from "../../src/config/config-problems.ts";
import { configuredAssets } from "../../src/config/configured-assets.ts";
import { type DatabasePool, inTransaction } from "../../src/database/database.ts";
import { bookFinal } from "../../src/money/ledger/book-final.ts";
import { createRound } from "../../src/round/run-round.ts";
import { markOrders } from "../../src/swap/due/mark-swaps.ts";
import { deliveryToJson, signedOpToJson } from "../../src/swap/record/swap-json.ts";
import { roundOptions } from "../swap/swap-scene.ts";
import { blockAt, moveChains } from "./console-world.ts";

/** How a swap goes on. Swaps in flight stop there. */
export type Story =
	| "settled"
	| "refunded"
	| "failed"
	| "opening"
	| "deposited"
	| "delivering"
	| "delivered"
	| "refunding";

export type SeededSwap = { id: SwapUuid; story: Story; order: Order; orderId: Hex };

type Seeding = {
	owner: DatabasePool;
	/** A pool with the worker's role, which rounds use. */
	worker: DatabasePool;
	config: ConsoleConfig;
	accountIds: readonly string[];
	random: () => number;
};

/**
 * Writes swaps that were submitted within a minute and leads each through its story. Rows are inserted as a submit, a
 * lane and a follower insert them; the rounds that decide are the real ones, and so are the books. The times that the
 * database's clock has written are set back afterwards.
 */
export async function seedSwaps(
	seeding: Seeding,
	{ stories, atMs }: { stories: readonly Story[]; atMs: number },
): Promise<SeededSwap[]> {
	const { owner, config } = seeding;
	const clock = { nowMs: atMs };
	const swaps = stories.map((story, i) => newSwap(seeding, { story, atMs: atMs + i }));
	await submit(seeding, swaps);
	const go = async (
		seconds: number,
		step: { isFinal?: boolean; act?: (swap: SeededSwap) => Promise<unknown> } = {},
		among: readonly Story[] = stories,
	) => {
		const concerned = swaps.filter(({ story }) => among.includes(story));
		if (concerned.length === 0) return;
		const since = await databaseTime(owner);
		clock.nowMs = atMs + seconds * 1_000;
		await moveChains(owner, { config, nowMs: clock.nowMs, isFinal: step.isFinal ?? false });
		for (const swap of concerned) await step.act?.(swap);
		await markOrders(
			owner,
			concerned.map((swap) => swap.orderId),
		);
		await createRound(roundOptions(seeding.worker, clock, { config }))();
		await setBack(owner, { swaps: concerned, since, atMs: clock.nowMs });
	};
	const event = (name: string, data: (swap: SeededSwap) => object = () => ({})) => {
		return (swap: SeededSwap) => emit(seeding, swap, { name, data: data(swap), nowMs: clock.nowMs });
	};
	const done = (kind: string) => (swap: SeededSwap) => send(seeding, swap, { kind, nowMs: clock.nowMs });
	const both =
		(...acts: ((swap: SeededSwap) => Promise<unknown>)[]) =>
		async (swap: SeededSwap) => {
			for (const act of acts) await act(swap);
		};
	const isOpened: Story[] = ["settled", "refunded", "deposited", "delivering", "delivered", "refunding"];
	const isBack: Story[] = ["refunded", "refunding"];
	const opened = event("Opened", ({ order }) => ({ order: orderToJson(order) }));
	await go(3, { act: both(done("open"), opened) }, isOpened);
	await go(
		9,
		{},
		isOpened.filter((story) => story !== "deposited"),
	);
	await go(10, { act: refuse }, isBack);
	const filled = event("Filled", ({ order }) => ({
		delivered: String((order.minOutput * 1_004n) / 1_000n),
		spentToken: tokenOf(order.destinationChainId, order.outputToken),
		spent: String((order.minOutput * 1_004n) / 1_000n),
	}));
	await go(12, { act: both(done("fill"), filled) }, ["settled", "delivered"]);
	// The fill is deep enough now.
	await go(17, {}, ["settled", "delivered"]);
	await go(40, { act: both(done("void"), event("Voided")) }, ["refunded"]);
	// The rest is far in the future of the swaps in flight.
	await go(1_000, { isFinal: true }, ["settled", "refunded"]);
	await go(
		1_010,
		{
			isFinal: true,
			act: both(
				done("release"),
				event("Released", () => ({ paid: true })),
			),
		},
		["settled"],
	);
	await go(
		1_010,
		{
			isFinal: true,
			act: both(
				done("refund"),
				event("Refunded", () => ({ paid: true })),
			),
		},
		["refunded"],
	);
	await go(1_020, { isFinal: true }, ["settled", "refunded"]);
	await go(2_000, { isFinal: true }, ["failed"]);
	await book(seeding, { fromMs: atMs, atMs: atMs + 1_020_000 });
	return swaps;

	async function refuse(swap: SeededSwap): Promise<void> {
		await owner.query(
			"update jobs set state = 'refused', reason = 'price' where swap_id = $1 and kind = 'fill'",
			[swap.id],
		);
	}
}

async function databaseTime(owner: DatabasePool): Promise<Date> {
	const { rows } = await owner.query<{ now: Date }>("select clock_timestamp() as now");
	return rows[0]?.now ?? new Date();
}

function newSwap({ config, random }: Seeding, { story, atMs }: { story: Story; atMs: number }): SeededSwap {
	const oneOf = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
	const bytes = Uint8Array.from({ length: 10 }, () => Math.floor(random() * 256));
	const id = newSwapUuid({ nowMs: atMs, random: bytes });
	const origin = oneOf(config.chains);
	const destination = oneOf(config.chains.filter((chain) => chain !== origin));
	const assets = configuredAssets(config);
	const stableOf = ({ chainId }: ChainConfig) =>
		assets.find((asset) => asset.chainId === chainId && asset.kind === "stable");
	const [input, output] = [stableOf(origin), stableOf(destination)];
	if (!input || !output) throw new Error("each chain has a stable token");
	const amount =
		BigInt(Math.ceil(2 + random() ** 4 * 4_000)) * 1_000_000n + BigInt(Math.floor(random() * 1e6));
	const now = BigInt(Math.floor(atMs / 1_000));
	const evmWallet = () =>
		toWord(numberToHex(0xa11ce_000000n + BigInt(Math.floor(random() * 800)), { size: 20 }));
	const solanaWallet = () => keccak256(toHex(`wallet ${Math.floor(random() * 400)}`));
	const { attesterSet } = config.deployment.chains[0] ?? {};
	const order: Order = {
		...anyOrder(),
		originChainId: BigInt(origin.chainId),
		destinationChainId: BigInt(destination.chainId),
		attesterSet: attesterSet?.hash ?? "0x",
		escrow: contractOf(origin, "escrow"),
		originVault: contractOf(origin, "vault"),
		destinationVault: contractOf(destination, "vault"),
		wallet: origin.kind === "solana" ? solanaWallet() : evmWallet(),
		recipient: destination.kind === "solana" ? solanaWallet() : evmWallet(),
		inputToken: wordOf(input.token),
		outputToken: wordOf(output.token),
		inputAmount: amount,
		minOutput: (amount * 994n) / 1_000n,
		topUp: destination.kind === "solana" ? 2_000_000n : 4n * 10n ** 14n,
		swapKey: toSwapKey(id),
		deadlines: packDeadlines({
			openDeadline: now + 300n,
			fillDeadline: now + 1_500n,
			refundAfter: now + 3_300n,
		}),
	};
	return { id, story, order, orderId: orderId(order) };
}

function wordOf(token: Hex): Hex {
	return token.length === 66 ? token : toWord(token);
}

/** Returns the token in the form that events have. */
function tokenOf(chainId: bigint, word: Hex): Hex {
	return chainId > 1_000_000n ? word : `0x${word.slice(-40)}`;
}

function contractOf(chain: ChainConfig, name: "escrow" | "vault"): Hex {
	if (chain.kind === "evm") return toWord(chain.deployment.contracts[name]);
	const { address, vault } = chain.deployment.program;
	return toSolanaWord(name === "escrow" ? address : vault);
}

/** Inserts swaps as a submit does, with the row, the reservation, the wait and the first job. */
async function submit({ owner, accountIds, random }: Seeding, swaps: readonly SeededSwap[]): Promise<void> {
	await inTransaction(owner, async (db) => {
		for (const { id, order, orderId } of swaps) {
			const output = (order.minOutput * 1_005n) / 1_000n;
			const delivery = { kind: "inventory", amount: output } as const;
			const op = {
				delegate: "0x00000000000000000000000000000000000000d1",
				gas: 1n,
				signatureKind: "personal",
				signature: "0x12",
			} as const;
			const cents = order.inputAmount / 10_000n;
			const accountId = accountIds[Math.floor(random() ** 2 * accountIds.length)];
			await db.query(
				`insert into swaps (id, account_id, order_id, order_terms, output, value_usd_cents, delivery, op, fee_millibps)
				values ($1, $2, $3, $4, $5, $6, $7, $8, 12500)`,
				[
					id,
					accountId,
					hexToBytes(orderId),
					orderToJson(order),
					output,
					cents,
					deliveryToJson(delivery),
					signedOpToJson(op),
				],
			);
			await db.query("select start_swap($1, now() + interval '1 minute', false)", [id]);
			const token = hexToBytes(tokenOf(order.destinationChainId, order.outputToken));
			const chainId = Number(order.destinationChainId);
			await db.query("insert into reservations values ($1, $2, $3, $4, $5, $6, '[]', false, now())", [
				id,
				accountId,
				chainId,
				token,
				output,
				cents,
			]);
			await db.query("update inventory set reserved = reserved + $3 where chain_id = $1 and token = $2", [
				chainId,
				token,
				output,
			]);
		}
		// The time of the quote is in the id.
		await db.query(
			`update swaps set created_at = to_timestamp(('x0000' || left(replace(id::text, '-', ''), 12))::bit(64)::bigint / 1000.0),
				updated_at = to_timestamp(('x0000' || left(replace(id::text, '-', ''), 12))::bit(64)::bigint / 1000.0)
			where id = any($1)`,
			[swaps.map(({ id }) => id)],
		);
		await db.query(
			"update swap_events e set at = s.created_at from swaps s where s.id = e.swap_id and e.swap_id = any($1) and s.id = any($1)",
			[swaps.map(({ id }) => id)],
		);
	});
}

/** Sets back what the database's clock wrote since a moment, to a time that differs a little from swap to swap. */
async function setBack(
	owner: DatabasePool,
	{ swaps, since, atMs }: { swaps: readonly SeededSwap[]; since: Date; atMs: number },
): Promise<void> {
	const ids = swaps.map(({ id }) => id);
	const at = (id: string) =>
		`to_timestamp($2::float8 / 1000 + power(get_byte(uuid_send(${id}), 15) / 255.0, 3) * 9 + get_byte(uuid_send(${id}), 14) / 100.0)`;
	for (const column of ["updated_at", "opened_at", "delivered_at", "decided_at"]) {
		await owner.query(`update swaps set ${column} = ${at("id")} where id = any($1) and ${column} >= $3`, [
			ids,
			atMs,
			since,
		]);
	}
	await owner.query(`update swap_events set at = ${at("swap_id")} where swap_id = any($1) and at >= $3`, [
		ids,
		atMs,
		since,
	]);
	await owner.query(
		`update jobs set created_at = least(created_at, ${at("swap_id")}), updated_at = ${at("swap_id")}
		where swap_id = any($1) and updated_at >= $3`,
		[ids, atMs, since],
	);
}

const originKinds = ["open", "release", "refund"];

/** Writes the transaction that a lane has signed for a job, in a block, and marks the job as done. */
async function send(
	{ owner, config }: Seeding,
	{ id, order, orderId }: SeededSwap,
	{ kind, nowMs }: { kind: string; nowMs: number },
): Promise<void> {
	const chainId = Number(originKinds.includes(kind) ? order.originChainId : order.destinationChainId);
	const chain = config.chains.find((one) => one.chainId === chainId);
	if (!chain) return;
	const relayer =
		chain.kind === "solana"
			? toSolanaWord(chain.deployment.feePayers[0] ?? chain.deployment.program.address)
			: numberToHex(0x4e1a_0001n, { size: 20 });
	await owner.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
			sent_at_block, block_number, gas_cost, created_at)
		select $1, $2, (select coalesce(max(nonce), 0) + 1 from lane_transactions where chain_id = $1 and relayer = $2), 0, $3,
			'\\x', $4, $5, 1, 'final', $6, $6, $7, to_timestamp($8::float8 / 1000 - 2)`,
		[
			chainId,
			hexToBytes(relayer),
			hexToBytes(hashOf(chain.kind, id, kind)),
			kind,
			JSON.stringify([{ swapId: id, kind, orderId }]),
			blockAt(chain.kind, nowMs),
			chain.kind === "solana" ? 12_000n : 2_400_000_000_000n,
			nowMs,
		],
	);
	await owner.query(
		"update jobs set state = 'done', relayer = $3, nonce = 1 where swap_id = $1 and kind = $2",
		[id, kind, hexToBytes(relayer)],
	);
}

/** On Solana a transaction is identified by its signature of 64 bytes. */
function hashOf(kind: "evm" | "solana", id: string, name: string): Hex {
	const hash = keccak256(toHex(`${id} ${name}`));
	return kind === "evm" ? hash : `${hash}${hash.slice(2)}`;
}

const jobOfEvent: Record<string, string> = {
	Opened: "open",
	Filled: "fill",
	Voided: "void",
	Released: "release",
	Refunded: "refund",
};
let logs = 0;

/** Writes an event as a follower does. */
async function emit(
	{ owner, config }: Seeding,
	{ id, order, orderId }: SeededSwap,
	{ name, data, nowMs }: { name: string; data: object; nowMs: number },
): Promise<void> {
	const isOnDestination = name === "Filled" || name === "Voided";
	const chainId = Number(isOnDestination ? order.destinationChainId : order.originChainId);
	const chain = config.chains.find((one) => one.chainId === chainId);
	if (!chain) return;
	await owner.query("insert into chain_events values ($1, $2, $3, $4, $5, '\\x00', $6, $7, $8)", [
		chainId,
		blockAt(chain.kind, nowMs),
		++logs,
		hexToBytes(keccak256(toHex(`${chainId} ${blockAt(chain.kind, nowMs)}`))),
		hexToBytes(hashOf(chain.kind, id, jobOfEvent[name] ?? name)),
		hexToBytes(orderId),
		name,
		data,
	]);
}

/** Books the events and the gas between two times, as followers do once blocks are final. */
async function book(
	{ owner, config }: Seeding,
	{ fromMs, atMs }: { fromMs: number; atMs: number },
): Promise<void> {
	for (const chain of config.chains) {
		const { chainId } = chain;
		const [after, upTo] = [blockAt(chain.kind, fromMs) - 1, blockAt(chain.kind, atMs)];
		const since = await databaseTime(owner);
		const { rows } = await owner.query<{ hash: Buffer; block_number: number; gas_cost: bigint }>(
			`select hash, block_number, gas_cost from lane_transactions
			where chain_id = $1 and block_number > $2 and block_number <= $3`,
			[chainId, after, upTo],
		);
		await bookFinal(owner, {
			chainId,
			after,
			upTo,
			gas: rows.map((row) => ({
				hash: bytesToHex(row.hash),
				blockNumber: row.block_number,
				gasCost: row.gas_cost,
			})),
			vaults: [tokenOf(BigInt(chainId), contractOf(chain, "vault"))],
			assets: configuredAssets(config)
				.filter((asset) => asset.chainId === chainId)
				.map(({ token }) => token),
		});
		await owner.query("update postings set at = to_timestamp($2::float8 / 1000) where at >= $1", [
			since,
			atMs,
		]);
	}
}
