import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTestChains, type TestChain, type TestChains } from "@geoswap/devnet";
import {
	formatDeployment,
	fromSwapKey,
	geoVaultAbi,
	type Order,
	toSwapId,
	unpackDeadlines,
} from "@geoswap/protocol";
import { type Address, encodeFunctionData, getAddress, type Hex, numberToHex, parseEther } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { getDelegation } from "viem/actions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tokenBalance } from "../chain/token-balance.ts";
import { freezeInToken } from "../trouble/freeze-in-token.ts";
import { assetAddress, makeOrder } from "../wallet/make-order.ts";
import { sendBundle, sendTransaction, signDelegation, signOpening } from "../wallet/send-bundle.ts";
import { mintUsdc } from "../wallet/test-wallet.ts";

/** Each step starts the program, several times per test. */
const timeout = 300_000;

// Two chains and no process of the service. The commands are those of docs/rescue.md, as the page writes them.

const page = readFileSync(new URL("../../docs/rescue.md", import.meta.url), "utf8");
const commands = [...page.matchAll(/```sh\n(.*?)\n```/gs)].map(([, text = ""]) => text);
const [initCommand = "", lookCommand = "", sendCommand = "", , undelegateCommand = ""] = commands;
const program = new URL("../../packages/cli/src/main.ts", import.meta.url).pathname;

let chains: TestChains;
let origin: TestChain;
let relayer: PrivateKeyAccount;
let usdc: Address;
let folder: string;

beforeAll(async () => {
	chains = await startTestChains({ automine: true });
	origin = chains.origin;
	relayer = privateKeyToAccount(chains.keys.relayers[0] ?? "0x");
	usdc = assetAddress(origin, "USDC");
	folder = mkdtempSync(join(tmpdir(), "geoswap-rescue-"));
	writeFileSync(
		join(folder, "deployment.json"),
		formatDeployment({ chains: [origin.deployment, chains.destination.deployment] }),
	);
	mkdirSync(join(folder, "bin"));
	writeFileSync(join(folder, "bin/geoswap"), `#!/bin/sh\nexec node ${program} "$@" --json\n`);
	chmodSync(join(folder, "bin/geoswap"), 0o700);
});
afterAll(async () => {
	await chains.stop();
	rmSync(folder, { recursive: true, force: true });
});

test("the page has one command for each step", () => {
	expect(commands.map((command) => command.split(" ").slice(0, 2).join(" "))).toEqual([
		"geoswap init",
		"geoswap rescue",
		"geoswap rescue",
		"geoswap undelegate",
		"geoswap undelegate",
	]);
});

test("without any service, an input in escrow is found, waits for its deadline, and is refunded by a second wallet", {
	timeout,
}, async () => {
	const { wallet, order } = await openOrder();
	const run = await setUp(wallet);
	const found = { what: "order", amount: "10000000", token: usdc, swapId: swapIdOf(order) };

	const early = await run(lookCommand);
	expect(early).toMatchObject({ exit: 0, answer: { found: [{ ...found, place: "escrow" }] } });
	expect(early.answer.found[0]).not.toHaveProperty("transaction");
	expect(await run(sendCommand)).toMatchObject({ exit: 3, answer: { found: [{ place: "escrow" }] } });

	await warpPast(origin, unpackDeadlines(order.deadlines).refundAfter);
	expect(await run(lookCommand)).toMatchObject({
		exit: 0,
		answer: { found: [{ ...found, transaction: { to: origin.deployment.contracts.escrow } }] },
	});
	expect(await tokenBalance(origin, usdc, wallet.address)).toBe(0n);
	// The wallet has no ether, which the command reports. A second wallet pays.
	expect(await run(sendCommand)).toMatchObject({
		exit: 3,
		answer: { error: { code: "RESCUE_NOT_SENT", next: "fund_wallet" } },
	});
	const payer = await newPayer();
	expect(await run(sendCommand, { GEOSWAP_EVM_KEY: "", GEOSWAP_PAYER_KEY: payer })).toMatchObject({
		exit: 0,
		answer: { found: [{ ...found, sentTxHash: expect.stringMatching(/^0x/) }] },
	});
	expect(await tokenBalance(origin, usdc, wallet.address)).toBe(10_000_000n);
	expect(await run(lookCommand)).toMatchObject({ exit: 0, answer: { found: [{ place: "refunded" }] } });
});

test("an order is found by its swap's id alone among others of the wallet", { timeout }, async () => {
	const first = await openOrder();
	const second = await openOrder(first.wallet);
	const run = await setUp(first.wallet);
	const { answer } = await run(lookCommand.replace("rescue", `rescue ${swapIdOf(second.order)}`));
	expect(answer.found.map(({ swapId }: { swapId: string }) => swapId)).toEqual([swapIdOf(second.order)]);
});

test("an input whose output was delivered is not refunded if the destination can be queried", {
	timeout,
}, async () => {
	const { wallet, order } = await openOrder();
	const { destination } = chains;
	const item = { order, amount: 9_950_000n, minOutput: 0n, poolFee: 0, secondPoolFee: 0 };
	await sendTransaction({
		chain: destination,
		account: relayer,
		to: destination.deployment.contracts.vault,
		data: encodeFunctionData({ abi: geoVaultAbi, functionName: "fill", args: [item] }),
	});
	await warpPast(origin, unpackDeadlines(order.deadlines).refundAfter);
	const run = await setUp(wallet);
	const { answer } = await run(`${sendCommand} --rpc ${destination.chainId}=${destination.rpcUrl}`);
	expect(answer).toMatchObject({ found: [{ place: "delivered-not-released" }] });
	expect(answer.found[0]).not.toHaveProperty("sentTxHash");
});

test("an input that the token refused to pay is owed to the wallet, and is claimed once the token pays", {
	timeout,
}, async () => {
	const { wallet, order } = await openOrder();
	await warpPast(origin, unpackDeadlines(order.deadlines).refundAfter);
	const unfreeze = await freezeInToken(origin, { token: usdc, holder: wallet.address });
	const run = await setUp(wallet);
	const GEOSWAP_PAYER_KEY = await newPayer();
	await run(sendCommand, { GEOSWAP_PAYER_KEY });
	const owed = { what: "credit", place: "owed", amount: "10000000" };
	expect(await run(sendCommand, { GEOSWAP_PAYER_KEY })).toMatchObject({
		exit: 3,
		answer: { error: { code: "RESCUE_NOT_SENT" } },
	});
	await unfreeze();
	expect(await run(lookCommand)).toMatchObject({ answer: { found: [{ place: "refunded" }, owed] } });
	expect(await run(sendCommand, { GEOSWAP_PAYER_KEY })).toMatchObject({ exit: 0 });
	expect(await tokenBalance(origin, usdc, wallet.address)).toBe(10_000_000n);
});

test("a delegation is removed at a second wallet's cost, and again at the wallet's cost", {
	timeout,
}, async () => {
	const { wallet } = await openOrder();
	const run = await setUp(wallet);
	expect(await run(undelegateCommand, { GEOSWAP_PAYER_KEY: await newPayer() })).toMatchObject({
		exit: 0,
		answer: { delegated: false, isRemoved: true, isRevoked: true, txHash: expect.stringMatching(/^0x/) },
	});
	expect(await delegateOf(wallet)).toBeUndefined();

	await sendTransaction({
		chain: origin,
		account: relayer,
		to: relayer.address,
		authorizationList: [await signDelegation(origin, wallet)],
	});
	expect(await delegateOf(wallet)).toBe(origin.deployment.contracts.delegate);
	await origin.testClient.setBalance({ address: wallet.address, value: parseEther("1") });
	expect(await run(undelegateCommand)).toMatchObject({ exit: 0, answer: { delegated: false } });
	expect(await delegateOf(wallet)).toBeUndefined();
	const again = await run(undelegateCommand);
	expect(again.answer).toMatchObject({ delegated: false, isRemoved: false });
	expect(again.answer).not.toHaveProperty("txHash");
});

test("a delegate whose code returns anything, or nothing, cannot keep a wallet from leaving it", {
	timeout,
}, async () => {
	const { wallet } = await openOrder();
	const run = await setUp(wallet);
	// They return 32 zero bytes, one byte, nothing, an error.
	for (const [index, bytecode] of (["0x60205ff3", "0x60015ff3", "0x00", "0x5f5ffd"] as const).entries()) {
		const hostile = getAddress(numberToHex(0xbad00 + index, { size: 20 }));
		await origin.testClient.setCode({ address: hostile, bytecode });
		await sendTransaction({
			chain: origin,
			account: relayer,
			to: relayer.address,
			authorizationList: [await signDelegation(origin, wallet, hostile)],
		});
		expect(await delegateOf(wallet)).toBe(hostile);
		expect(await run(undelegateCommand, { GEOSWAP_PAYER_KEY: await newPayer() })).toMatchObject({
			exit: 0,
			answer: { delegated: false, isRemoved: true, isRevoked: false },
		});
		expect(await delegateOf(wallet)).toBeUndefined();
	}
});

/** Configures the command in a new home by the page, and returns a function that runs the page's other commands. */
async function setUp(wallet: PrivateKeyAccount & { key: Hex }) {
	const text = readFileSync(join(folder, "deployment.json"));
	const env = {
		PATH: `${join(folder, "bin")}:${process.env.PATH}`,
		GEOSWAP_HOME: mkdtempSync(join(folder, "home-")),
		CHAIN: String(origin.chainId),
		RPC: origin.rpcUrl,
		WALLET: wallet.address,
		HASH: `sha256:${createHash("sha256").update(text).digest("hex")}`,
		GEOSWAP_EVM_KEY: wallet.key,
	};
	const run = async (command: string, more: Record<string, string> = {}) => {
		const { code, stdout } = await promisify(execFile)("bash", ["-uc", command], {
			cwd: folder,
			env: { ...env, ...more },
		}).then(
			({ stdout }) => ({ code: 0, stdout }),
			(error: { code: number; stdout: string }) => error,
		);
		return { exit: code, answer: JSON.parse(stdout) };
	};
	expect(await run(initCommand)).toMatchObject({ exit: 0 });
	return run;
}

/** Opens an order of 10 USDC to the other chain, by a wallet without ether. */
async function openOrder(
	known?: PrivateKeyAccount & { key: Hex },
): Promise<{ wallet: PrivateKeyAccount & { key: Hex }; order: Order }> {
	const key = generatePrivateKey();
	const wallet = known ?? { ...privateKeyToAccount(key), key };
	await mintUsdc({ chain: origin, relayer, to: wallet.address, amount: 10_000_000n });
	const order = await makeOrder({
		chains,
		wallet: wallet.address,
		inputToken: usdc,
		outputToken: assetAddress(chains.destination, "USDC"),
	});
	await sendBundle({
		chain: origin,
		relayer,
		openings: [await signOpening({ order, wallet })],
		authorizations: known ? [] : [await signDelegation(origin, wallet)],
	});
	return { wallet, order };
}

async function newPayer(): Promise<Hex> {
	const key = generatePrivateKey();
	await origin.testClient.setBalance({ address: privateKeyToAccount(key).address, value: parseEther("1") });
	return key;
}

function swapIdOf({ swapKey }: Order): string {
	return toSwapId(fromSwapKey(swapKey));
}

function delegateOf({ address }: { address: Address }): Promise<Address | undefined> {
	return getDelegation(origin.publicClient, { address });
}

async function warpPast({ testClient }: TestChain, timestamp: bigint): Promise<void> {
	await testClient.setNextBlockTimestamp({ timestamp: timestamp + 1n });
	await testClient.mine({ blocks: 1 });
}
