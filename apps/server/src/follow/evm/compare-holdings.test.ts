import { fundWallet, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import type { UsdE18 } from "@geoswap/protocol";
import { type Address, type Hex, type LocalAccount, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assetAddress, orderActions } from "../../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../../test/service/test-database.ts";
import { connectChain, type EvmChain } from "../../chain/evm/connect-chain.ts";
import { value36 } from "../../money/profit/explain-change.ts";
import { savePriceMarks } from "../../money/profit/price-marks.ts";
import { createLog } from "../../telemetry/log.ts";
import { advance } from "./advance.ts";

const daySeconds = 86_400;

let chains: TestChains;
let chain: TestChain;
let database: TestDatabase;
let relayer: LocalAccount;
let usdc: Address;
/** What other providers answer for the chain. */
let agreeing: EvmChain[] = [];

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "worker" })]);
	chain = chains.origin;
	relayer = privateKeyToAccount(chains.keys.relayers[0] as Hex);
	usdc = assetAddress(chain, "USDC");
	await follow();
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

async function follow({ at = connectChain(chain) } = {}): Promise<void> {
	await orderActions(chains).finalize();
	const following = {
		chain: at,
		pool: database.pool,
		engine: { poke: async () => {} },
		relayers: [relayer.address],
		agreeing,
		log: createLog({ level: "silent", process: "test" }),
	};
	while (await advance(following));
}

const give = (amount: bigint) =>
	fundWallet(chain, {
		deployment: chain.deployment,
		wallet: chain.deployment.contracts.vault,
		token: usdc,
		amount,
	});

const mark = (token: Address, usd: bigint) =>
	savePriceMarks(database.pool, [{ chainId: chain.chainId, token, usdE18: (usd * 10n ** 18n) as UsdE18 }]);

async function days() {
	const { rows } = await database.owner.query(
		`select day, opening, closing, by_account, usd_opening, usd_closing, flows36, positions36, agreed
		from book_days where chain_id = $1 and token = $2 order by day`,
		[chain.chainId, Buffer.from(usdc.slice(2), "hex")],
	);
	return rows;
}

/** Returns a chain whose node reports one unit more of every balance. */
function inflated(): EvmChain {
	const real = connectChain(chain);
	const multicall = async (parameters: Parameters<typeof real.client.multicall>[0]) => {
		const read = await real.client.multicall(parameters);
		return read.map((value) => (typeof value === "bigint" ? value + 1n : value));
	};
	return { ...real, client: Object.assign(Object.create(real.client), { multicall }) };
}

test("a day is closed once, and its opening and flows add up to its closing, in units and in USD", async () => {
	expect(await days()).toEqual([]);
	await mark(usdc, 1n);
	await give(500n);
	await follow();
	await mark(usdc, 2n);
	await give(7n);
	agreeing = [connectChain(chain), connectChain(chain)];
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	const [first, ...others] = await days();
	expect(others).toEqual([]);
	expect(first).toMatchObject({ by_account: { unattributed: "507" }, agreed: true });
	expect(first.closing).toBe(first.opening + 507n);
	const worth = (amount: bigint, usdE18: bigint) =>
		value36(amount, { decimals: 6, usdE18: usdE18 as UsdE18 });
	expect(first.flows36 + first.positions36).toBe(
		worth(first.closing, first.usd_closing) - worth(first.opening, first.usd_opening),
	);
	expect(first.flows36).toBeGreaterThanOrEqual(worth(507n, 10n ** 18n));

	await follow();
	expect(await days()).toHaveLength(1);
	await give(3n);
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	const [, second] = await days();
	expect(second).toMatchObject({ opening: first.closing, by_account: { unattributed: "3" } });
	expect(second.closing).toBe(second.opening + 3n);
});

test("a provider that reports other balances is noted with the day", async () => {
	agreeing = [connectChain(chain), inflated()];
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	expect((await days()).at(-1)).toMatchObject({ agreed: false });
	agreeing = [];
	await chain.testClient.increaseTime({ seconds: daySeconds });
	await follow();
	expect((await days()).at(-1)).toMatchObject({ agreed: null });
});

test("a surplus that only one of several providers reports is not booked", async () => {
	const sums = async () =>
		database.owner.query("select account, token, sum(amount) from entries group by 1, 2 order by 1, 2");
	const before = (await sums()).rows;
	agreeing = [connectChain(chain), connectChain(chain)];
	await follow({ at: inflated() });
	expect((await sums()).rows).toEqual(before);
	agreeing = [];
});

test("a relayer's gas is part of the day, even if the service does not offer the native token", async () => {
	const { rows } = await database.owner.query(
		"select opening from book_days where chain_id = $1 and token = $2 order by day limit 1",
		[chain.chainId, Buffer.from(zeroAddress.slice(2), "hex")],
	);
	const inVault = await chain.publicClient.getBalance({ address: chain.deployment.contracts.vault });
	const ofRelayer = await chain.publicClient.getBalance({ address: relayer.address });
	expect(rows).toEqual([{ opening: inVault + ofRelayer }]);
});
