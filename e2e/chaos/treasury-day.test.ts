import { dirname } from "node:path";
import { deriveDevnetKeys, serverCommand, type TestChain } from "@geoswap/devnet";
import { geoVaultAbi } from "@geoswap/protocol";
import { encodeFunctionData, parseEther, parseUnits } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callAs } from "../bad-days/call-as.ts";
import { doSwap, swapIntent } from "../caller/do-swap.ts";
import { connectDatabase, type DatabaseConnection } from "../environment/connect-database.ts";
import { emptyVault } from "../environment/empty-vault.ts";
import { makeCommands } from "../environment/make-commands.ts";
import { openPageConsole } from "../expect/page-console.ts";
import { ownEnvironment } from "../own-environment.ts";
import { fundWallets } from "../wallet/fund-wallets.ts";
import { assetAddress } from "../wallet/make-order.ts";

const patience = { timeout: 120_000, interval: 500 };
const usdc = (amount: string) => parseUnits(amount, 6);
/** The chain whose first relayer has little gas. */
const lowChainId = 31_338;

/** More blocks than are not final. */
const blocksToFinality = 10;
/** The first block of each chain with an empty vault. */
const emptyFrom = new Map<number, number>();

const environmentOf = ownEnvironment({
	treasury: {
		mode: "act",
		planSeconds: 2,
		// What is needed follows from the targets alone. The few swaps here must be enough for a relayer to need gas.
		policy: { deviations: 0, minRelayerHours: 60, refillRelayerHours: 720 },
	},
	startProvider: async (node) => {
		emptyFrom.set(node.chainId, await emptyVault(node));
		await giveGas(node);
		await node.testClient.mine({ blocks: blocksToFinality });
		return { url: node.rpcUrl, stop: async () => {} };
	},
	// The service begins after the vaults are empty, so that no plan is made of what they held before.
	publish: (deployment) => ({
		...deployment,
		chains: deployment.chains.map((chain) => ({
			...chain,
			deployedAtBlock: emptyFrom.get(chain.chainId) ?? chain.deployedAtBlock,
		})),
	}),
	// Two chains are enough for a page to read.
	configure: ({ solana: _, chains, ...config }) => ({
		...config,
		audit: { ...config.audit, everySeconds: 2, confirmSeconds: 1 },
		// All swaps are of one account.
		limits: { unopenedShareOfInventory: 1 },
		chains: Object.fromEntries(
			Object.entries(chains).map(([chainId, chain]) => [
				chainId,
				{ ...chain, inventoryTargetUsd: 60_000, minimumTipWei: "1000000000" },
			]),
		),
	}),
});

let database: DatabaseConnection;
beforeAll(async () => {
	database = await connectDatabase(environmentOf().databaseUrl);
});
afterAll(() => database?.end());

/** Sets what the keys that pay for gas hold. */
async function giveGas({ chainId, testClient }: TestChain): Promise<void> {
	const { relayers, treasurer } = deriveDevnetKeys();
	for (const [i, key] of [...relayers.slice(0, 2), treasurer].entries()) {
		const value = parseEther(chainId === lowChainId && i === 0 ? "0.005" : "1");
		await testClient.setBalance({ address: privateKeyToAddress(key), value });
	}
}

/** Returns the kinds of all declarations and moves with their states, sorted. */
async function flows(): Promise<string[]> {
	const rows = await database.query<{ flow: string }>(
		"select kind || ' ' || state as flow from treasury_moves order by 1",
	);
	return rows.map(({ flow }) => flow);
}

/** Waits until deliveries are final. What they paid stays reserved until then, and quotes lack it. */
async function nothingReserved(): Promise<void> {
	await expect.poll(() => database.query("select from reservations"), patience).toEqual([]);
}

/** Waits for a plan that is made from now on, and returns the kinds of its moves. */
async function nextPlan(): Promise<string[]> {
	const since = new Date();
	const newer = () =>
		database.query<{ kinds: string[] }>(
			"select jsonb_path_query_array(plan, '$.moves[*].kind') as kinds from treasury_plans where at > $1 order by at limit 1",
			[since],
		);
	await expect.poll(newer, patience).toHaveLength(1);
	return (await newer())[0]?.kinds ?? [];
}

test("the commands of docs/treasury.md take an empty vault through a day of swaps and moves, with books that add up", async () => {
	const environment = environmentOf();
	const { origin, destination, keys, client, deployment: pins, logDir, serverEnvironment } = environment;
	const [one, two] = [origin.chainId, destination.chainId];
	const path = `${makeCommands(dirname(logDir))}:${serverEnvironment.PATH}`;
	const page = openPageConsole({
		page: "treasury.md",
		heading: "## A day with it",
		env: { ...serverEnvironment, PATH: path },
	});
	const { run } = page;
	const asAda = (reason: string) => `--by ada --reason "${reason}"`;
	const tokens = origin.deployment.assets.length + destination.deployment.assets.length;
	const vaultOf = ({ deployment }: TestChain) => deployment.contracts.vault;

	await run(`geoswapd treasury deposit --chain ${one} --token USDC --amount 20000 ${asAda("inventory")}`);
	await run(`geoswapd treasury deposit --chain ${two} --token USDC --amount 55000 ${asAda("inventory")}`);
	await run(`geoswapd treasury deposit --chain ${two} --token ETH --amount 2 ${asAda("gas")}`);
	for (const [chain, amount] of [[origin, usdc("20000")] as const, [destination, usdc("55000")] as const]) {
		await fundWallets(chain, [{ wallet: vaultOf(chain), token: assetAddress(chain, "USDC"), amount }]);
	}
	await callAs(destination, keys.treasury, { to: vaultOf(destination), value: parseEther("2") });
	await expect.poll(flows, patience).toEqual(["deposit final", "deposit final", "deposit final"]);
	await run("geoswapd treasury moves");

	// Without a pause, how often each chain is filled would depend on when swaps are done.
	await run(`geoswapd treasury pause ${asAda("I read the first plan before it is carried out")}`);
	const swap = async (from: TestChain, token: string, amount: bigint): Promise<void> => {
		const to = { chain: from === origin ? destination : origin, token: "USDC" };
		const account = await environment.newWallet({ chain: from, token, amount });
		const intent = swapIntent({ from: { chain: from, token, amount }, to, account });
		expect((await doSwap({ client, pins, account }, intent)).swap.status).toBe("settled");
	};
	await Promise.all(Array.from({ length: 10 }, () => swap(origin, "USDC", usdc("3000"))));
	await nothingReserved();
	await swap(origin, "WETH", parseEther("6"));
	await nothingReserved();
	// The lane of the other relayer may have paid everything out.
	while (!(await nextPlan()).includes("send")) {
		await swap(origin, "USDC", usdc("10"));
		await nothingReserved();
	}
	await expect.poll(nextPlan, patience).toEqual(["send", "trade", "bridge"]);
	await run("geoswapd treasury plan");

	await run(`geoswapd treasury resume ${asAda("the plan is good")}`);
	await Promise.all(Array.from({ length: 3 }, () => swap(destination, "USDC", usdc("100"))));
	const moved = [
		"bridge final",
		"deposit final",
		"deposit final",
		"deposit final",
		"send final",
		"trade final",
	];
	await expect.poll(flows, patience).toEqual(moved);
	await run("geoswapd treasury moves");
	const [bridge] = await database.query<{ id: string }>(
		"select id from treasury_moves where kind = 'bridge'",
	);
	await run(`geoswapd treasury show ${bridge?.id}`);

	await expect.poll(() => database.query("select from swaps where ended_at is null"), patience).toEqual([]);
	// A worker that has just started writes its first prices after a minute.
	const priced = () => database.query("select distinct chain_id, token from price_marks");
	await expect.poll(async () => (await priced()).length, patience).toBe(tokens);
	await run("geoswapd report --today");
	await expectReportAddsUp(serverEnvironment);

	const safe = privateKeyToAddress(keys.treasury);
	const withdraw = (amount: string): Promise<unknown> => {
		const args = [assetAddress(origin, "USDC"), safe, usdc(amount)] as const;
		const data = encodeFunctionData({ abi: geoVaultAbi, functionName: "withdraw", args });
		return callAs(origin, keys.treasury, { to: vaultOf(origin), data });
	};
	await run(
		`geoswapd treasury withdraw --chain ${one} --token USDC --amount 1000 --to ${safe} ${asAda("profit")}`,
	);
	await withdraw("1000");
	await expect.poll(flows, patience).toEqual([...moved, "withdrawal final"]);
	await run("geoswapd reconcile | tail -n 1");

	await withdraw("500");
	const isPaused = async () =>
		(await database.query("select from pauses where chain_id = $1 and lifted_at is null", [one])).length ===
		1;
	await expect.poll(isPaused, patience).toBe(true);
	await run("geoswapd pauses list", { exitCode: 1 });
	await run("geoswapd reconcile | grep -A 1 BREACH", { exitCode: 1 });
	const reason = asAda("it was me, and I forgot to declare it");
	await run(`geoswapd treasury withdraw --chain ${one} --token USDC --amount 500 --to ${safe} ${reason}`);
	await expect.poll(flows, patience).toEqual([...moved, "withdrawal final", "withdrawal final"]);
	await run(`geoswapd pauses lift ${one} ${reason}`);
	await run("geoswapd reconcile | tail -n 1");
	page.expectSame(expect);
});

/** Expects the report of today to explain the whole change of value, with swaps that earn and moves that cost. */
async function expectReportAddsUp(serverEnvironment: Record<string, string>): Promise<void> {
	const report = JSON.parse(await serverCommand(serverEnvironment, ["report", "--today", "--json"])) as {
		change: string;
		difference: string;
		positions: string;
		reasons: Record<string, string>;
		unpriced: unknown[];
	};
	const { change, difference, positions, reasons, unpriced } = report;
	const parts = [...Object.values(reasons), positions].map((usd) => parseUnits(usd, 36));
	expect(parts.reduce((sum, part) => sum + part, 0n)).toBe(parseUnits(change, 36));
	expect({ difference, unattributed: reasons.unattributed, unpriced }).toEqual({
		difference: "0",
		unattributed: "0",
		unpriced: [],
	});
	// Two deposits at par, and two ether at the devnet's price.
	expect(reasons.declared).toBe("81000");
	expect(Number(reasons.swap)).toBeGreaterThan(0);
	expect(Number(reasons.move)).toBeLessThan(0);
}
