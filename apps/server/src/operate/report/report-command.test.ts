import { randomUUID } from "node:crypto";
import { fundWallet, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	fromSwapKey,
	nativeTokenOf,
	type Order,
	orderId,
	orderToJson,
	toSwapId,
	type UsdE18,
} from "@geoswap/protocol";
import { formatUnits, type Hex, hexToBytes, parseUnits, type TransactionReceipt } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { assetAddress, orderActions } from "../../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { connectChain } from "../../chain/evm/connect-chain.ts";
import { createChainNames } from "../../config/chain-names.ts";
import type { Config } from "../../config/config.ts";
import { configuredAssets } from "../../config/configured-assets.ts";
import { advance } from "../../follow/evm/advance.ts";
import { savePriceMarks } from "../../money/profit/price-marks.ts";
import { decimalsOfBooks } from "../../money/profit/read-periods.ts";
import { createLog } from "../../telemetry/log.ts";
import type { reportToJson } from "./format-report.ts";
import { readPeriods } from "./read-report.ts";
import { reportCommand } from "./report-command.ts";
import { writeCsv } from "./write-csv.ts";

const daySeconds = 86_400;

let chains: TestChains;
let actions: ReturnType<typeof orderActions>;
let database: TestDatabase;
let config: Pick<Config, "chains">;
let day: string;
const swaps: Record<"settled" | "stale", Order> = {} as never;
const errors: string[] = [];

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "auditor" })]);
	actions = orderActions(chains);
	const of = (chain: TestChain) => ({ ...chain, kind: "evm", nativeDecimals: 18 });
	config = { chains: [of(chains.origin), of(chains.destination)] } as never;
	vi.stubEnv("AUDITOR_DATABASE_URL", database.urls.auditor);
	vi.spyOn(console, "error").mockImplementation((line: string) => void errors.push(line));
	await follow();
	await mark({ usdc: 1_000n, native: 2_500_000n });
	await happen();
	const { origin, destination } = chains;
	for (const chain of [origin, destination]) await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	const { rows } = await database.owner.query("select distinct day from book_days");
	expect(rows).toHaveLength(1);
	day = rows[0].day;
});
beforeEach(() => {
	errors.length = 0;
});
afterAll(async () => {
	vi.unstubAllEnvs();
	vi.restoreAllMocks();
	await database?.drop();
	await chains?.stop();
});

/** Makes a swap, one that is void, a gift and a declared deposit, while prices change. */
async function happen(): Promise<void> {
	swaps.settled = await actions.makeOrder();
	swaps.stale = await actions.makeOrder();
	for (const order of Object.values(swaps)) await insertSwap(order);
	for (const order of Object.values(swaps)) await actions.open(order);
	await sign("fill", [swaps.settled], await actions.fill(swaps.settled, 9_000_000n));
	await follow();
	await mark({ usdc: 1_001n, native: 2_400_000n });
	await sign("void", [swaps.stale], await actions.voidOrder(swaps.stale));
	await follow();
	// One transaction for two jobs, and one for none.
	await sign("release", [swaps.settled, swaps.stale], await actions.decide("Release", swaps.settled));
	await sign("cancel", [swaps.stale], await actions.decide("Refund", swaps.stale));
	await follow();
	const { origin } = chains;
	await declare(3_000_000n);
	await give(3_000_001n);
	await follow();
	await mark({ usdc: 999n, native: 2_450_000n });
	await origin.testClient.mine({ blocks: 1 });
}

/** Sets prices in thousandths of a USD. */
async function mark({ usdc, native }: { usdc: bigint; native: bigint }): Promise<void> {
	const usdE18 = (milli: bigint) => (milli * 10n ** 15n) as UsdE18;
	await savePriceMarks(
		database.owner,
		configuredAssets(config).map(({ chainId, token, isNative }) => {
			return { chainId, token, usdE18: usdE18(isNative ? native : usdc) };
		}),
	);
	for (const { chainId } of config.chains) {
		await savePriceMarks(database.owner, [
			{ chainId, token: nativeTokenOf(chainId), usdE18: usdE18(native) },
		]);
	}
}

async function follow(): Promise<void> {
	await actions.finalize();
	for (const chain of [chains.origin, chains.destination]) {
		const connected = connectChain(chain);
		const following = {
			chain: connected,
			pool: database.pools.worker,
			engine: { poke: async () => {} },
			relayers: [privateKeyToAddress(chains.keys.relayers[0] as Hex)],
			agreeing: chain === chains.origin ? [connected] : [],
			log: createLog({ level: "silent", process: "test" }),
		};
		while (await advance(following));
	}
}

/** Writes down who a transaction was for, as a lane does before it sends it. */
async function sign(
	kind: string,
	orders: Order[],
	{ transactionHash, from }: TransactionReceipt,
): Promise<void> {
	const [order] = orders;
	const isOrigin = kind === "release" || kind === "cancel";
	const chain = isOrigin ? chains.origin : chains.destination;
	const { nonce } = await chain.publicClient.getTransaction({ hash: transactionHash });
	expect(order).toBeDefined();
	await database.owner.query(
		`insert into lane_transactions (chain_id, relayer, nonce, attempt, hash, raw, kind, jobs, max_fee_per_gas, state,
			sent_at_block)
		values ($1, $2, $3, 0, $4, '', $5, $6, 1, 'broadcast', 1)`,
		[
			chain.chainId,
			hexToBytes(from),
			nonce,
			hexToBytes(transactionHash),
			kind,
			JSON.stringify(
				orders.map((one) => ({ swapId: fromSwapKey(one.swapKey), kind, orderId: orderId(one) })),
			),
		],
	);
}

async function insertSwap(order: Order): Promise<void> {
	await database.owner.query(
		`insert into swaps (id, order_id, order_terms, output, value_usd_cents, fee_millibps, skew_centibps, delivery)
		values ($1, $2, $3, 0, 1000, 100000, 25, '{}')`,
		[fromSwapKey(order.swapKey), hexToBytes(orderId(order)), orderToJson(order)],
	);
}

async function give(amount: bigint): Promise<void> {
	const { deployment } = chains.origin;
	const wallet = deployment.contracts.vault;
	await fundWallet(chains.origin, { deployment, wallet, token: assetAddress(chains.origin, "USDC"), amount });
}

async function declare(amount: bigint): Promise<void> {
	const { chainId, deployment } = chains.origin;
	await database.owner.query(
		`insert into treasury_moves (id, kind, chain_id, token, amount, holder, reason, made_by, state)
		values ($1, 'deposit', $2, $3, $4, $5, 'a test', 'ada', 'queued')`,
		[
			randomUUID(),
			chainId,
			hexToBytes(assetAddress(chains.origin, "USDC")),
			amount,
			hexToBytes(deployment.contracts.vault),
		],
	);
}

async function report(
	options: Partial<Parameters<typeof reportCommand>[0]> = {},
): Promise<{ code: number; text: string }> {
	const written: string[] = [];
	const code = await reportCommand(
		{ by: "pair", config: "none.json", ...(!options.today && !options.week && { day }), ...options },
		{
			readFile: () => config,
			write: async (text) => void written.push(text),
			nowMs: Date.parse(`${day}T09:00:00Z`) + daySeconds * 1_000,
		},
	);
	return { code, text: written.join("") };
}

async function readJson(options: Parameters<typeof report>[0] = {}) {
	const { code, text } = await report({ ...options, json: true });
	return { code, json: JSON.parse(text) as ReturnType<typeof reportToJson> };
}

const exact = (text: string) => parseUnits(text, 36);

test("what a day's entries and positions are worth is the change of balances, exactly", async () => {
	const { code, json } = await readJson();
	expect([code, errors]).toEqual([0, []]);
	expect(json.difference).toBe("0");
	const sum = Object.values(json.reasons).reduce(
		(total, value) => total + exact(value),
		exact(json.positions),
	);
	expect(sum).toBe(exact(json.closing) - exact(json.opening));
	expect(json.unpriced).toEqual([]);
	// The books of the database, which were computed when the day was closed.
	const { rows } = await database.owner.query(
		"select sum(flows36)::text as flows, sum(positions36)::text as positions from book_days",
	);
	expect(exact(json.positions)).toBe(BigInt(rows[0].positions));
	expect(sum - exact(json.positions)).toBe(BigInt(rows[0].flows));
	// 3 declared and one unit as a gift, at 1.001.
	expect(json.reasons).toMatchObject({ declared: "3.003", unattributed: "0.000001001", reversal: "0" });
	expect(json.providers).toEqual({ agreed: 1, differ: 0, alone: 1 });
});

test("a swap has its fee, what inventory added, its share of the gas, and the rest", async () => {
	const { json } = await readJson();
	const [settled, stale] = [swaps.settled, swaps.stale].map((order) =>
		json.swaps.find((one) => one.orderId === orderId(order)),
	);
	// It brought 10 USDC at 1.001 and took 9 at 1.000. The fee is 1 % of 10 USD, and inventory added a quarter of a bp.
	expect(settled).toMatchObject({
		swapId: toSwapId(fromSwapKey(swaps.settled.swapKey)),
		isComplete: true,
		fee: "0.1",
		skew: "0.00025",
		price: "0.90975",
		underWay: "0",
	});
	expect(stale).toMatchObject({ isComplete: false, fee: "0", price: "0", underWay: "0" });
	const { rows } = await database.owner.query(
		"select kind, gas_cost::text as cost from lane_transactions where gas_cost is not null",
	);
	const cost = (kind: string) => BigInt(rows.find((one) => one.kind === kind).cost);
	const shares = [cost("release") - cost("release") / 2n, cost("release") / 2n];
	const worth = (units: bigint, milli: bigint) => formatUnits(-units * milli * 10n ** 15n, 36);
	expect(settled?.gas).toBe(
		formatUnits(exact(worth(cost("fill"), 2_500_000n)) + exact(worth(shares[0] ?? 0n, 2_400_000n)), 36),
	);
	expect(stale?.gas).toBe(worth(cost("void") + (shares[1] ?? 0n), 2_400_000n));
	expect(json.reasons.overhead).toBe(worth(cost("cancel"), 2_400_000n));
});

/** Parses CSV as RFC 4180 defines it. */
function parseCsv(text: string): string[][] {
	return text
		.split("\r\n")
		.slice(0, -1)
		.map((line) =>
			[...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(([, quoted, plain]) =>
				(quoted ?? plain ?? "").replaceAll('""', '"'),
			),
		);
}

test("the entries of the CSV add up to closing less opening for each token, and each has its reason and transaction", async () => {
	const { code, text } = await report({ csv: true });
	expect(code).toBe(0);
	const [header, ...rows] = parseCsv(text);
	expect(header).toEqual([
		...["time", "chain", "transaction", "token", "amount", "usd", "account", "reason", "id"],
	]);
	expect(rows.every((row) => row.length === header?.length)).toBe(true);
	const { rows: days } = await database.owner.query(
		"select chain_id, '0x' || encode(token, 'hex') as token, (closing - opening)::text as change from book_days",
	);
	for (const { chain_id, token, change } of days) {
		const asset = configuredAssets(config).find(
			(one) => one.chainId === chain_id && one.token.toLowerCase() === token,
		);
		if (!asset) throw new Error(`no asset ${token}`);
		const name = config.chains.find(({ chainId }) => chainId === chain_id)?.deployment.name;
		const sum = rows
			.filter(([, chain, , symbol]) => chain === name && symbol === asset.symbol)
			.reduce((total, [, , , , amount]) => total + parseUnits(amount ?? "", asset.decimals), 0n);
		expect(sum).toBe(BigInt(change));
	}
	const ofSwap = rows.filter((row) => row.at(-1) === toSwapId(fromSwapKey(swaps.settled.swapKey)));
	expect(ofSwap.map((row) => [row[4], row[7]])).toEqual(
		expect.arrayContaining([
			["10", "swap"],
			["-9", "swap"],
		]),
	);
	expect(ofSwap.every(([time, , hash]) => /^\d{4}.*Z$/.test(time ?? "") && hash?.length === 66)).toBe(true);
	expect(
		rows.some(([, , , , amount, usd, , reason, id]) => {
			return amount === "3" && usd === "3.00300000" && reason === "declared" && id?.length === 36;
		}),
	).toBe(true);
});

test("the CSV is the same in pages of two postings", async () => {
	const { text } = await report({ csv: true });
	const decimalsOf = decimalsOfBooks(configuredAssets(config));
	const range = { kind: "closed", days: [day] } as const;
	const { periods } = await readPeriods(database.pool, { range, decimalsOf });
	const written: string[] = [];
	await writeCsv(database.pool, {
		periods,
		decimalsOf,
		chainNames: createChainNames(config),
		write: async (page) => void written.push(page),
		size: 2,
	});
	expect(written.length).toBeGreaterThan(4);
	expect(written.join("")).toBe(text);
});

test("the morning report shows the books, why the value changed, the swaps and the balances", async () => {
	const { text } = await report();
	expect(text).toContain(`Report of ${day}, UTC`);
	expect(text).toMatch(
		/books: closed on 2 of 2 chains; two providers agreed on 1; 1 without a second provider/,
	);
	expect(text).toMatch(/USDC → USDC +2 +\+0.10/);
	expect(text).toContain("the sum of the above, exactly");
	expect((await report({ by: "chain" })).text).toContain(" → ");
	expect((await report({ by: "account" })).text).toContain("no account");
	expect((await report({ by: "reason" })).text).toMatch(/declared +\+3.00 +0.00/);
});

test("what happened since the last closed day is in the report of today, and the day does not change", async () => {
	const before = await readJson();
	const order = await actions.makeOrder();
	await insertSwap(order);
	await actions.open(order);
	await sign("fill", [order], await actions.fill(order, 5_000_000n));
	await follow();
	await mark({ usdc: 1_002n, native: 2_460_000n });
	const { code, json } = await readJson({ today: true });
	expect([code, json.difference, json.isClosed]).toEqual([0, "0", false]);
	// 5 USDC left at 0.999, and the input is not released yet.
	expect(json.swaps).toMatchObject([{ orderId: orderId(order), underWay: "-4.995", price: "0", fee: "0" }]);
	expect(json.opening).toBe(before.json.closing);
	expect((await readJson()).json).toEqual(before.json);
	expect((await report({ today: true })).text).toContain("not closed yet");
});

test("a week has the sums of its days", async () => {
	const [{ json: one }, { json: seven }] = [await readJson(), await readJson({ week: day })];
	expect({ ...seven, days: one.days }).toEqual(one);
});

test("a chain that is not closed for the day is named, and the exit code is 1", async () => {
	await database.owner.query("create table days_before as table book_days");
	await database.owner.query("delete from book_days where chain_id = $1", [chains.origin.chainId]);
	try {
		const { code, text } = await report();
		expect(code).toBe(1);
		expect(text).toContain("closed on 1 of 2 chains");
		expect(text).toMatch(/^NOT CLOSED/m);
		expect(errors).toEqual([expect.stringContaining(`chain ${chains.origin.chainId} are not closed`)]);
	} finally {
		await database.owner.query(
			"delete from book_days; insert into book_days table days_before; drop table days_before",
		);
	}
});

test("a closing that the entries do not explain shows as a difference", async () => {
	await database.owner.query(
		"update book_days set closing = closing + 1 where chain_id = $1 and token = $2",
		[chains.origin.chainId, hexToBytes(assetAddress(chains.origin, "USDC"))],
	);
	try {
		expect((await readJson()).json.difference).toBe("0.000000999");
		expect((await report()).text).toContain("DIFFERENCE  0.000000999 USD");
	} finally {
		await database.owner.query(
			"update book_days set closing = closing - 1 where chain_id = $1 and token = $2",
			[chains.origin.chainId, hexToBytes(assetAddress(chains.origin, "USDC"))],
		);
	}
});

test.each([
	[{ by: "colour" }, "--by: colour is none of"],
	[{ day: "2026-02-30" }, "--day: 2026-02-30 is not a day"],
	[{ day: "2999-01-01" }, "--day: 2999-01-01 is not over"],
	[{ today: true, day: "2026-01-01" }, "--today: cannot be combined with --day"],
	[{ json: true, csv: true }, "--csv: cannot be combined"],
])("%j is refused", async (options, message) => {
	await expect(report(options)).rejects.toThrow(message);
});
