import { randomBytes, randomUUID } from "node:crypto";
import { newSwapUuid, type Order, orderId, packDeadlines, toSwapKey, toWord } from "@geoswap/protocol";
import { type Address, type Hex, hexToBytes, zeroAddress, zeroHash } from "viem";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { inTransaction, openDatabase } from "../../database/database.ts";
import { unreserveAll } from "../../money/inventory/reservations.ts";
import type { Reservation } from "../../swap/facts/reservation.ts";
import { readSwap } from "../../swap/record/read-swap.ts";
import { walletUnopened } from "../origin/wallet-unopened.ts";
import type { Standing } from "./read-standing.ts";
import { type NewSwap, submitSwap, waitForSubmits } from "./submit-swap.ts";

const usdc: Address = "0x00000000000000000000000000000000000000c1";
const weth: Address = "0x00000000000000000000000000000000000000e2";
const wallet: Address = "0x00000000000000000000000000000000000000a1";
const limits = {
	shareOfInventory: 1,
	unopenedUsdCents: 1_000_000n as bigint | undefined,
	reservationSeconds: 60,
};

let database: TestDatabase;
beforeAll(async () => {
	database = await createTestDatabase({ as: "api" });
});
afterAll(() => database.drop());
beforeEach(async () => {
	await database.owner.query("truncate swaps, swap_events, waits, reservations, inventory, pair_volume");
	await setInventory(1_000n);
});

test("1,000 concurrent submits of one quote create one row and one reservation, and the others get the existing swap", async () => {
	const swap = newSwap();
	// Two pools, like two API processes, each with its own connections.
	const pools = [database.pool, openDatabase({ url: database.url, applicationName: "test" })];
	try {
		const outcomes = await Promise.all(
			Array.from({ length: 1_000 }, (_, i) =>
				submit(swap, { pool: pools[i % 2] ?? database.pool, amount: 600n }),
			),
		);
		expect(outcomes.filter(({ outcome }) => outcome === "created")).toHaveLength(1);
		expect(outcomes.filter(({ outcome }) => outcome === "existing")).toHaveLength(999);
	} finally {
		await pools[1]?.end();
	}
	expect(await books()).toEqual({ swaps: 1, events: 2, reservations: 1, reserved: 600n });
});

test("of 50 concurrent swaps for an inventory that fits 10, exactly 10 are created", async () => {
	const outcomes = await Promise.all(
		Array.from({ length: 50 }, () => submit(newSwap({ accountId: randomUUID() }), { amount: 100n })),
	);
	expect(outcomes.filter(({ outcome }) => outcome === "created")).toHaveLength(10);
	expect(outcomes.filter(({ outcome }) => outcome === "inventory")).toHaveLength(40);
	expect(await books()).toEqual({ swaps: 10, events: 20, reservations: 10, reserved: 1_000n });
});

test("no more is reserved than the vault's outflow limit allows, even if it holds more", async () => {
	await setInventory(1_000n, 99n);
	expect(await submit(newSwap(), { amount: 100n })).toEqual({ outcome: "inventory" });
	expect(await submit(newSwap(), { amount: 99n })).toMatchObject({ outcome: "created" });
});

test("a fee is stored to a thousandth of a basis point, and an old row in hundredths reads as the same fee", async () => {
	const swap = { ...newSwap(), feeMillibps: 9_375 };
	const { pool, owner } = database;
	expect(await submit(swap, { amount: 1n })).toMatchObject({ swap: { feeMillibps: 9_375 } });
	expect(await readSwap(pool, swap.id)).toMatchObject({ feeMillibps: 9_375 });
	const { rows } = await pool.query("select fee_centibps from swaps");
	expect(rows).toEqual([{ fee_centibps: 938 }]);
	await owner.query("update swaps set fee_millibps = null, fee_centibps = 1250");
	expect(await readSwap(pool, swap.id)).toMatchObject({ feeMillibps: 12_500 });
});

test("what inventory added to a price is stored with the swap", async () => {
	const skewed = { ...newSwap(), skewCentibps: -437 };
	expect(await submit(skewed, { amount: 1n })).toMatchObject({ swap: { skewCentibps: -437 } });
	expect(await submit(newSwap(), { amount: 1n })).toMatchObject({ swap: { skewCentibps: 0 } });
});

test("concurrent swaps over one ladder are each priced after the volume of the others", async () => {
	const pairs = [
		{ chainId: 2, token: weth, direction: "buy" },
		{ chainId: 1, token: weth, direction: "sell" },
	] as const;
	const seen: bigint[] = [];
	await Promise.all(
		Array.from({ length: 20 }, (_, i) =>
			submitSwap(database.pool, {
				swap: newSwap({ accountId: randomUUID() }),
				pairs: i % 2 ? pairs : pairs.toReversed(),
				reserve: (inFlight) => {
					expect(inFlight.buy).toBe(inFlight.sell * 7n);
					seen.push(inFlight.sell);
					const [buy, sell] = pairs;
					return reservation(10n, [
						{ ...buy, amount: 7n },
						{ ...sell, amount: 1n },
					]);
				},
				isOpened: false,
				admit: () => {},
				countedOrders: [],
				limits,
				nowMs: Date.now,
			}),
		),
	);
	expect(seen.sort((a, b) => Number(a - b))).toEqual(Array.from({ length: 20 }, (_, i) => BigInt(i)));
	const { rows } = await database.owner.query("select volumes from reservations limit 1");
	expect(rows[0].volumes).toEqual([
		{ chainId: 2, token: weth, direction: "buy", amount: "7" },
		{ chainId: 1, token: weth, direction: "sell", amount: "1" },
	]);
});

test("a swap whose order was open before its submit is due immediately", async () => {
	const openDeadline = BigInt(Math.floor(Date.now() / 1_000) + 600);
	const fillDeadline = openDeadline + 1n;
	const deadlines = packDeadlines({ openDeadline, fillDeadline, refundAfter: fillDeadline + 1n });
	const [early, usual] = [newSwap({ order: { deadlines } }), newSwap({ order: { deadlines } })];
	await database.owner.query("insert into chain_events values (1, 1, 1, '', '', '', $1, 'Opened', '{}')", [
		hexToBytes(orderId(early.order)),
	]);
	for (const swap of [early, usual]) {
		expect(await submit(swap, { amount: 1n })).toMatchObject({ outcome: "created" });
	}
	const { rows } = await database.owner.query("select swap_id from waits where due_at <= now()");
	expect(rows).toEqual([{ swap_id: early.id }]);
});

test("a price below the minimum reserves and inserts nothing", async () => {
	expect(await submit(newSwap(), { amount: undefined })).toEqual({ outcome: "price" });
	expect(await books()).toEqual({ swaps: 0, events: 0, reservations: 0, reserved: 0n });
});

test("concurrent swaps of one account stay under its cap of unopened value", async () => {
	const accountId = randomUUID();
	const outcomes = await Promise.all(
		Array.from({ length: 30 }, () => submit(newSwap({ accountId, valueUsdCents: 200_000n }), { amount: 1n })),
	);
	expect(outcomes.filter(({ outcome }) => outcome === "created")).toHaveLength(5);
	expect(outcomes.filter(({ outcome }) => outcome === "unopened")).toHaveLength(25);
	await database.owner.query("update reservations set opened = true");
	expect(await submit(newSwap({ accountId }), { amount: 1n })).toMatchObject({ outcome: "created" });
});

test("an account can reserve at most its share of the inventory unopened, and no swap can be larger than that", async () => {
	const accountId = randomUUID();
	const within = { ...limits, shareOfInventory: 0.2, unopenedUsdCents: undefined };
	const take = (amount: bigint, as = accountId) =>
		submit(newSwap({ accountId: as }), { amount, limits: within });
	const outcomes = await Promise.all(Array.from({ length: 30 }, () => take(10n)));
	expect(outcomes.filter(({ outcome }) => outcome === "created")).toHaveLength(20);
	expect(outcomes.filter(({ outcome }) => outcome === "unopened")).toHaveLength(10);
	// A swap that can never fit is not told to wait.
	expect(await take(201n)).toEqual({ outcome: "share" });
	expect(await take(200n, randomUUID())).toMatchObject({ outcome: "created" });
	await database.owner.query("update reservations set opened = true");
	expect(await take(10n)).toMatchObject({ outcome: "created" });
});

test("a swap whose order is open is marked for refund if nothing can be reserved for it", async () => {
	expect(await submit(newSwap(), { amount: 1_001n, isOpened: true })).toMatchObject({
		outcome: "created",
		swap: { givingUp: "NO_LIQUIDITY", status: "pending" },
	});
	expect(await submit(newSwap(), { amount: undefined, isOpened: true })).toMatchObject({
		outcome: "created",
		swap: { givingUp: "PRICE_MOVED" },
	});
	expect(await books()).toEqual({ swaps: 2, events: 2, reservations: 0, reserved: 0n });
	const swap = newSwap();
	expect(await submit(swap, { amount: 5n, isOpened: true })).toMatchObject({ outcome: "created" });
	expect(await submit(swap, { amount: 5n, isOpened: true })).toMatchObject({ outcome: "existing" });
	expect(await books()).toEqual({ swaps: 3, events: 3, reservations: 1, reserved: 5n });
});

test("a top-up is reserved with the output or not at all, and both are released together", async () => {
	await setInventory(1_000n);
	await setInventory(100n, 100n, zeroAddress);
	const order = { topUp: 10n };
	const outcomes = await Promise.all(
		Array.from({ length: 30 }, () => submit(newSwap({ accountId: randomUUID(), order }), { amount: 40n })),
	);
	expect(outcomes.filter(({ outcome }) => outcome === "created")).toHaveLength(10);
	expect(outcomes.filter(({ outcome }) => outcome === "inventory")).toHaveLength(20);
	expect(await reservedOf(usdc)).toBe(400n);
	expect(await reservedOf(zeroAddress)).toBe(100n);
	// An open order finds no more of the native token either, so it is refunded.
	const refused = { outcome: "created", swap: { givingUp: "NO_LIQUIDITY" } };
	expect(await submit(newSwap({ order }), { amount: 40n, isOpened: true })).toMatchObject(refused);
	const ids = outcomes.flatMap((one) => ("swap" in one ? one.swap.id : []));
	await inTransaction(database.owner, (db) => unreserveAll(db, ids));
	expect([await reservedOf(usdc), await reservedOf(zeroAddress)]).toEqual([0n, 0n]);
	// The native token is available, and the output is not.
	expect(await submit(newSwap({ order }), { amount: 1_001n, isOpened: true })).toMatchObject(refused);
	expect([await reservedOf(usdc), await reservedOf(zeroAddress)]).toEqual([0n, 0n]);
});

test("an account can reserve at most its share of the native token for top-ups that are not open yet", async () => {
	await setInventory(100n, 100n, zeroAddress);
	const accountId = randomUUID();
	const within = { ...limits, shareOfInventory: 0.2 };
	const take = (topUp: bigint) =>
		submit(newSwap({ accountId, order: { topUp } }), { amount: 1n, limits: within });
	expect(await take(21n)).toEqual({ outcome: "inventory" });
	expect(await take(15n)).toMatchObject({ outcome: "created" });
	expect(await take(6n)).toEqual({ outcome: "inventory" });
	await database.owner.query("update reservations set opened = true");
	expect(await take(6n)).toMatchObject({ outcome: "created" });
});

test("a submit returns the given swap, with the delivery that was priced", async () => {
	const swap = newSwap();
	const result = await submit(swap, { amount: 5n });
	expect(result).toMatchObject({
		outcome: "created",
		swap: { ...swap, delivery: { kind: "inventory", amount: 5n }, stage: "opening", givingUp: undefined },
	});
});

test("the unopened swaps of a wallet have the same wallet, token and chain, and exclude the given order", async () => {
	const [first, second] = [newSwap(), newSwap()];
	const otherToken = newSwap({ order: { inputToken: toWord(weth) } });
	const otherChain = newSwap({ order: { originChainId: 3n } });
	const otherWallet = newSwap({ order: { wallet: toWord(weth) } });
	const opened = newSwap();
	for (const swap of [first, second, otherToken, otherChain, otherWallet, opened]) {
		await submit(swap, { amount: 1n });
	}
	await database.owner.query("update swaps set stage = 'deposited' where id = $1", [opened.id]);
	expect(await walletUnopened(database.pool, { order: first.order, nowMs: Date.now() })).toMatchObject([
		{ escrow: "0x0000000000000000000000000000000000000001", amount: 77n },
	]);
});

test("an expired op creates no swap, and reporting the expiry waits for submits that are in progress", async () => {
	await setInventory(100n);
	const { accountId } = newSwap();
	// This submit is in time, and has not written yet.
	const slow = await database.pool.connect();
	await slow.query("begin");
	await slow.query("select pg_advisory_xact_lock(hashtextextended('account:' || $1, 0))", [accountId]);
	let hasWaited = false;
	const waits = waitForSubmits(database.pool, accountId).then(() => {
		hasWaited = true;
	});
	await slow.query("select pg_sleep(0.1)");
	expect(hasWaited).toBe(false);
	await slow.query("commit");
	slow.release();
	await waits;
	expect(await submit(newSwap(), { amount: 10n, expiresAtMs: Date.now() - 1 })).toEqual({
		outcome: "expired",
	});
});

function submit(
	swap: NewSwap,
	{
		amount,
		isOpened = false,
		expiresAtMs,
		admit = () => {},
		countedOrders = [],
		limits: given = limits,
		pool = database.pool,
	}: {
		amount: bigint | undefined;
		isOpened?: boolean;
		expiresAtMs?: number;
		admit?: (standing: Standing) => void;
		countedOrders?: Hex[];
		limits?: typeof limits;
		pool?: TestDatabase["pool"];
	},
) {
	return submitSwap(pool, {
		swap,
		pairs: [],
		reserve: () => (amount === undefined ? undefined : reservation(amount)),
		isOpened,
		expiresAtMs,
		admit,
		countedOrders,
		limits: given,
		nowMs: Date.now,
	});
}

function reservation(amount: bigint, volumes: Reservation["volumes"] = []): Reservation {
	return { delivery: { kind: "inventory", amount }, chainId: 2, token: usdc, amount, volumes };
}

async function reservedOf(token: Hex): Promise<bigint> {
	const { rows } = await database.owner.query("select reserved from inventory where token = $1", [
		hexToBytes(token),
	]);
	return rows[0].reserved;
}

async function setInventory(balance: bigint, outflow = balance, token: Hex = usdc): Promise<void> {
	await database.owner.query(
		`insert into inventory (chain_id, token, balance, outflow_available, block_number) values (2, $1, $2, $3, 1)
		on conflict (chain_id, token) do update set balance = $2, outflow_available = $3`,
		[hexToBytes(token), balance, outflow],
	);
}

async function books() {
	const { rows } = await database.owner.query(
		`select (select count(*) from swaps) as swaps, (select count(*) from swap_events) as events,
			(select count(*) from reservations) as reservations, (select sum(reserved) from inventory) as reserved`,
	);
	return rows[0];
}

function newSwap({
	accountId = "00000000-0000-4000-8000-000000000001",
	valueUsdCents = 100n,
	order = {},
}: {
	accountId?: string;
	valueUsdCents?: bigint;
	order?: Partial<Order>;
} = {}): NewSwap {
	const id = newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) });
	const word = (n: number) => toWord(`0x${n.toString(16).padStart(40, "0")}`);
	return {
		id,
		accountId,
		order: {
			originChainId: 1n,
			destinationChainId: 2n,
			escrow: word(1),
			originVault: word(2),
			destinationVault: word(3),
			attesterSet: zeroHash,
			wallet: toWord(wallet),
			inputToken: toWord(usdc),
			inputAmount: 77n,
			outputToken: toWord(usdc),
			minOutput: 1n,
			recipient: toWord(wallet),
			topUp: 0n,
			swapKey: toSwapKey(id),
			deadlines: packDeadlines({ openDeadline: 1n, fillDeadline: 2n, refundAfter: 3n }),
			...order,
		},
		output: 76n,
		valueUsdCents,
		feeMillibps: 12_500,
		delivery: { kind: "inventory", amount: 76n },
		op: {
			delegate: "0x00000000000000000000000000000000000000D1",
			gas: 1n,
			signatureKind: "personal",
			signature: "0x00",
		},
	};
}
