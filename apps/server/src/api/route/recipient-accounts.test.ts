import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startTestSolana, type TestSolana } from "@geoswap/devnet";
import { type SolanaAddress, solanaChainId, solanaNativeToken } from "@geoswap/protocol";
import { generateKeyPairSigner } from "@solana/kit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeKeyedAccount } from "../../../test/api/make-keyed-account.ts";
import { connectSolana } from "../../chain/solana/connect-solana.ts";
import { createLog } from "../../telemetry/log.ts";
import { createRecipientAccounts } from "./recipient-accounts.ts";

let solana: TestSolana;
beforeAll(async () => {
	solana = await startTestSolana();
});
afterAll(() => solana?.stop());

function scene(rpcUrl = solana.rpcUrl) {
	let nowMs = 1_000_000;
	let calls = 0;
	const { recipientOf } = createRecipientAccounts({
		solana: connectSolana({ rpcUrl, deployment: solana.deployment, onCall: () => void calls++ }),
		chains: new Map(),
		nowMs: () => nowMs,
		log: createLog({ level: "silent", process: "test" }),
	});
	const { settlementToken } = solana.deployment;
	return {
		calls: () => calls,
		pass: (ms: number) => {
			nowMs += ms;
		},
		ask: (recipient: string, { token = settlementToken as string, accountId = "account" } = {}) =>
			recipientOf(
				{ destinationChain: solanaChainId, outputToken: token, recipient, walletAddress: "" },
				{ accountId },
			),
	};
}
const newAddress = async (): Promise<SolanaAddress> => (await generateKeyPairSigner()).address;
const has = { hasAccount: true, payProblem: undefined };

test("a recipient's account is read once, and after 30 seconds again while the cached answer is still used", async () => {
	const { ask, calls, pass } = scene();
	const owner = await newAddress();
	await solana.admin.mintTo({ owner, token: solana.deployment.settlementToken, amount: 1n });
	await solana.admin.warp({ slots: 4 });
	// On a slow machine the first answer takes longer than a quote waits for it. It is still requested only once.
	await expect.poll(() => ask(owner)).toEqual(has);
	expect(calls()).toBe(1);
	for (let i = 0; i < 100; i++) expect(await ask(owner)).toEqual(has);
	expect(calls()).toBe(1);
	pass(30_000);
	expect(await ask(owner)).toEqual(has);
	await expect.poll(calls).toBe(2);
});

test("a recipient without an account is read once, and has the same result as an unknown one", async () => {
	const { ask, calls } = scene();
	const owner = await newAddress();
	expect(await ask(owner)).toBeUndefined();
	// On a slow machine nothing may have been sent yet when a quote stops waiting.
	await expect.poll(calls).toBe(1);
	expect(await ask(owner)).toBeUndefined();
	expect(calls()).toBe(1);
});

test("a recipient that a program owns is reported as not payable in SOL, as the output or as a top-up", async () => {
	const { ask } = scene();
	const { address } = await makeKeyedAccount(solana, { token: solana.deployment.settlementToken });
	await expect
		.poll(() => ask(address, { token: solanaNativeToken }))
		.toMatchObject({ payProblem: expect.stringMatching("account of the program") });
	await expect
		.poll(() => ask(address))
		.toMatchObject({ topUpProblem: expect.stringMatching("account of the program") });
});

test("only valid addresses and listed tokens are looked up, and a limited number for each account", async () => {
	const { ask, calls } = scene();
	const owner = await newAddress();
	for (const text of ["", "0x", "x".repeat(10_000), "__proto__"]) expect(await ask(text)).toBeUndefined();
	expect(await ask(owner, { token: await newAddress() })).toBeUndefined();
	expect(calls()).toBe(0);
	for (let i = 0; i < 50; i++) await ask(await newAddress());
	expect(calls()).toBe(10);
});

test("a chain that does not respond makes no quote fail", async () => {
	const { ask } = scene("http://127.0.0.1:1");
	expect(await ask(await newAddress())).toBeUndefined();
});

test("a read that the chain does not answer is aborted", async () => {
	let closed = 0;
	const silent = createServer((request) => request.socket.on("close", () => void closed++));
	await once(silent.listen(0, "127.0.0.1"), "listening");
	const { ask, calls } = scene(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
	expect(await ask(await newAddress())).toBeUndefined();
	await expect.poll(calls, { timeout: 4_000 }).toBe(1);
	await expect.poll(() => closed).toBe(1);
	silent.close();
});
