import { accessManagerAbi, vaultRoles } from "@geoswap/contracts";
import { fundWallet, startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import { geoVaultAbi } from "@geoswap/protocol";
import {
	type Address,
	createWalletClient,
	encodeFunctionData,
	type Hex,
	http,
	type LocalAccount,
	pad,
	toHex,
	zeroAddress,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assetAddress, orderActions } from "../../test/order/order-actions.ts";
import { createTestDatabase, type TestDatabase } from "../../test/service/test-database.ts";
import { connectChain } from "../chain/evm/connect-chain.ts";
import { advance } from "../follow/evm/advance.ts";
import { type Declaration, declareFlow, readFlows } from "../money/move/declared-flows.ts";
import { createLog } from "../telemetry/log.ts";
import { reconcile } from "./reconcile.ts";

const safe: Address = "0x00000000000000000000000000000000000000Af";
const daySeconds = 86_400;
/** The number of this kind of cap in the vault. */
const sendCap = 2;

let chains: TestChains;
let chain: TestChain;
let database: TestDatabase;
let relayer: LocalAccount;
let admin: LocalAccount;
let treasury: LocalAccount;
let treasurer: LocalAccount;
let usdc: Address;
let vault: Address;

beforeAll(async () => {
	[chains, database] = await Promise.all([startTestChains(), createTestDatabase({ as: "owner" })]);
	chain = chains.origin;
	const { keys } = chains;
	[relayer, admin, treasury, treasurer] = [
		keys.relayers[0] as Hex,
		keys.deployer,
		keys.treasury,
		keys.treasurer,
	].map((key) => privateKeyToAccount(key)) as [LocalAccount, LocalAccount, LocalAccount, LocalAccount];
	usdc = assetAddress(chain, "USDC");
	({ vault } = chain.deployment.contracts);
	await follow();
});
afterAll(async () => {
	await database?.drop();
	await chains?.stop();
});

/** Follows the chain until everything that happened is final and booked, and its balances are compared. */
async function follow(): Promise<void> {
	await orderActions(chains).finalize();
	const following = {
		chain: connectChain(chain),
		pool: database.pools.worker,
		engine: { poke: async () => {} },
		relayers: [relayer.address],
		log: createLog({ level: "silent", process: "test" }),
	};
	while (await advance(following));
}

async function breaches(): Promise<(string | boolean | undefined)[][]> {
	await follow();
	const report = await reconcile({
		pool: database.pools.auditor,
		chains: [chain],
		earlierAttesterSets: [],
		nowMs: Date.now(),
	});
	return report.breaches.map(({ invariant, amount, pauses }) => [invariant, amount, pauses]);
}

async function send(from: LocalAccount, call: { to: Address; data?: Hex; value?: bigint }): Promise<void> {
	const client = createWalletClient({
		account: from,
		chain: chain.publicClient.chain,
		transport: http(chain.rpcUrl),
	});
	const hash = await client.sendTransaction(call);
	const { status } = await chain.publicClient.waitForTransactionReceipt({ hash, pollingInterval: 20 });
	expect(status).toBe("success");
}

const declare = (kind: Declaration["kind"], terms: Partial<Declaration> & { amount: bigint }) =>
	declareFlow(database.owner, {
		kind,
		chainId: chain.chainId,
		token: usdc,
		holder: vault,
		by: "ada",
		reason: "a test",
		...terms,
	});

function withdrawal(amount: bigint): Hex {
	return encodeFunctionData({ abi: geoVaultAbi, functionName: "withdraw", args: [usdc, safe, amount] });
}

function give(amount: bigint): Promise<void> {
	return fundWallet(chain, { deployment: chain.deployment, wallet: vault, token: usdc, amount });
}

async function balanceOf(account: string, token: Address): Promise<bigint> {
	const { rows } = await database.owner.query<{ sum: string }>(
		`select coalesce(sum(amount), 0)::text as sum from entries
		where chain_id = $1 and account = $2 and token = $3`,
		[chain.chainId, account, Buffer.from(token.slice(2), "hex")],
	);
	return BigInt(rows[0]?.sum ?? 0);
}

test("what comes into a vault or to a relayer is booked: as the treasury's if it was declared, else as unattributed", async () => {
	const before = await balanceOf("inventory", usdc);
	await declare("deposit", { amount: 100n });
	await give(7n);
	expect(await breaches()).toEqual([]);
	expect(await balanceOf("unattributed", usdc)).toBe(-7n);
	expect(await readFlows(database.owner, { limit: 1 })).toMatchObject([{ state: "queued" }]);

	// A stranger adds 2 while the deposit is on its way.
	await give(102n);
	expect(await breaches()).toEqual([]);
	expect(await balanceOf("unattributed", usdc)).toBe(-9n);
	expect(await balanceOf("treasury", usdc)).toBe(-100n);
	expect(await balanceOf("inventory", usdc)).toBe(before + 109n);
	expect(await readFlows(database.owner, { limit: 1 })).toMatchObject([{ state: "final", received: 100n }]);

	const gas = await balanceOf("relayer", zeroAddress);
	await declare("deposit", { amount: 50n, token: zeroAddress, holder: relayer.address });
	await send(admin, { to: relayer.address, value: 51n });
	expect(await breaches()).toEqual([]);
	expect(await balanceOf("relayer", zeroAddress)).toBe(gas + 51n);
	expect(await balanceOf("treasury", zeroAddress)).toBe(-50n);
	expect(await balanceOf("unattributed:relayer", zeroAddress)).toBe(-1n);
});

test("a withdrawal that nobody declared is found, even if a gift of the same amount hides it", async () => {
	await declare("withdrawal", { amount: 30n, to: safe });
	await send(treasury, { to: vault, data: withdrawal(30n) });
	expect(await breaches()).toEqual([]);
	expect(await readFlows(database.owner, { limit: 1 })).toMatchObject([
		{ kind: "withdrawal", state: "final" },
	]);

	await send(treasury, { to: vault, data: withdrawal(30n) });
	await give(30n);
	expect(await breaches()).toEqual([["T1", "30", undefined]]);
	// Another amount does not explain it.
	await declare("withdrawal", { amount: 31n, to: safe });
	expect(await breaches()).toEqual([["T1", "30", undefined]]);
	await declare("withdrawal", { amount: 30n, to: safe });
	expect(await breaches()).toEqual([]);
	const flows = await readFlows(database.owner, { limit: 3 });
	expect(
		flows.filter(({ kind }) => kind === "withdrawal").map(({ amount, state }) => [amount, state]),
	).toEqual([
		[31n, "queued"],
		[30n, "final"],
		[30n, "final"],
	]);
});

test("a withdrawal that nobody declared is found when it is scheduled, until it is cancelled", async () => {
	const { accessManager } = chain.deployment.contracts;
	await send(admin, {
		to: accessManager,
		data: encodeFunctionData({
			abi: accessManagerAbi,
			functionName: "grantRole",
			args: [vaultRoles.treasury.id, admin.address, daySeconds],
		}),
	});
	const operation = [vault, withdrawal(40n), 0] as const;
	const schedule = encodeFunctionData({ abi: accessManagerAbi, functionName: "schedule", args: operation });
	await send(admin, { to: accessManager, data: schedule });
	expect(await breaches()).toEqual([["T1", "40", undefined]]);
	const id = await declare("withdrawal", { amount: 40n, to: safe });
	expect(await breaches()).toEqual([]);
	await database.owner.query("update treasury_moves set state = 'cancelled' where id = $1", [id]);
	expect(await breaches()).toEqual([["T1", "40", undefined]]);
	await send(admin, {
		to: accessManager,
		data: encodeFunctionData({
			abi: accessManagerAbi,
			functionName: "cancel",
			args: [admin.address, vault, withdrawal(40n)],
		}),
	});
	expect(await breaches()).toEqual([]);
});

test("a move of the treasurer's key that was not planned, or that differs from the plan, is found", async () => {
	await send(admin, {
		to: vault,
		data: encodeFunctionData({
			abi: geoVaultAbi,
			functionName: "setCap",
			args: [sendCap, usdc, relayer.address, 1_000n],
		}),
	});
	const move = (n: number, amount: bigint) =>
		send(treasurer, {
			to: vault,
			data: encodeFunctionData({
				abi: geoVaultAbi,
				functionName: "send",
				args: [pad(toHex(n)), usdc, relayer.address, amount],
			}),
		});
	const plan = (n: number, amount: bigint) =>
		database.owner.query(
			`insert into treasury_moves (id, kind, chain_id, token, amount, holder, address, move_id, reason, made_by, state)
			values (gen_random_uuid(), 'send', $1, $2, $3, $4, $5, $6, 'gas', 'worker', 'final')`,
			[
				chain.chainId,
				...[usdc, amount, vault, relayer.address, pad(toHex(n))].map((value) =>
					typeof value === "bigint" ? value : Buffer.from(value.slice(2), "hex"),
				),
			],
		);
	await plan(1, 60n);
	await move(1, 60n);
	expect(await breaches()).toEqual([]);
	await plan(2, 60n);
	await move(2, 61n);
	expect(await breaches()).toEqual([["T2", "61", undefined]]);
	await move(3, 62n);
	expect(await breaches()).toEqual([
		["T2", "61", undefined],
		["T2", "62", undefined],
	]);
	await plan(3, 62n);
	await database.owner.query("update treasury_moves set amount = 61 where move_id = $1", [
		Buffer.from(pad(toHex(2)).slice(2), "hex"),
	]);
	expect(await breaches()).toEqual([]);
});

test("a relayer that sends its gas away is found, and a declared withdrawal of gas is no breach", async () => {
	await send(relayer, { to: safe, value: 10n ** 18n });
	const found = await breaches();
	expect(found).toHaveLength(1);
	const [[invariant, amount, pauses] = []] = found;
	expect([invariant, pauses]).toEqual(["T3", false]);
	expect(BigInt(amount as string)).toBeGreaterThan(10n ** 18n);
	await declare("withdrawal", {
		amount: BigInt(amount as string),
		token: zeroAddress,
		holder: relayer.address,
		to: safe,
	});
	expect(await breaches()).toEqual([]);
});
