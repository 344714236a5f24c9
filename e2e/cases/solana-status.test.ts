import { setTimeout as sleep } from "node:timers/promises";
import { isTerminal, type StatusResponse, statusResponseSchema } from "@geoswap/protocol";
import { generateKeyPairSigner, type Signature } from "@solana/kit";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { beforeAll, type ExpectStatic, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import { type SolanaSteps, solanaSteps, tenUsdc } from "../caller/solana-caller.ts";
import { type AnyChain, holding, isSolanaChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { assetAddress } from "../wallet/make-order.ts";

const evmHash = /^0x[0-9a-f]{64}$/;
const solanaHash = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/;
const askEveryMs = 150;

let environment: Environment;
let client: Environment["client"];
let stranger: Environment["client"];
let steps: SolanaSteps;
beforeAll(async () => {
	environment = sharedEnvironment();
	[client, stranger] = await Promise.all([environment.newClient(), environment.newClient()]);
	steps = solanaSteps(environment, client);
});

type Side = { chain: AnyChain; token: string };

/** Polls until the end, and expects each answer to be consistent in itself and with the one before. */
async function watch(
	expect: ExpectStatic,
	{ swapId, from, to }: { swapId: string; from: Side; to: Side },
): Promise<StatusResponse> {
	const input = { chainId: from.chain.chainId, token: assetAddress<string>(from.chain, from.token) };
	const output = { chainId: to.chain.chainId, token: assetAddress<string>(to.chain, to.token) };
	let last: StatusResponse | undefined;
	for (;;) {
		const { status, body } = await steps.status({ swapId });
		expect(status).toBe(200);
		const swap = statusResponseSchema.strict().parse(body);
		expect(swap).toEqual(body);
		expect(JSON.stringify(body)).not.toContain("null");
		expect(swap.swapId).toBe(swapId);
		if (swap.originTxHash) expect(swap.originTxHash).toMatch(hashOn(from.chain));
		if (swap.deliveryTxHash) expect(swap.deliveryTxHash).toMatch(hashOn(to.chain));
		// A transaction hash and the new holder of the funds are reported together.
		const holder = swap.deliveryTxHash ? "recipient" : swap.originTxHash ? "escrow" : "wallet";
		expect(swap.funds.holder).toBe(holder);
		if (holder === "recipient") expect(swap.funds).toMatchObject(output);
		else expect(swap.funds).toEqual({ ...input, holder, amount: String(tenUsdc) });
		expect("decidedBy" in swap).toBe(!isTerminal(swap.status));
		expect(Date.parse(swap.updatedAt)).toBeGreaterThanOrEqual(Date.parse(last?.updatedAt ?? swap.updatedAt));
		if (last?.originTxHash) expect(swap.originTxHash).toBe(last.originTxHash);
		last = swap;
		if (isTerminal(swap.status)) return swap;
		await sleep(askEveryMs);
	}
}

function hashOn(chain: AnyChain): RegExp {
	return isSolanaChain(chain) ? solanaHash : evmHash;
}

/** Returns true if the chain itself has the transaction, and it succeeded. */
async function isKnown(chain: AnyChain, hash: string | undefined): Promise<boolean> {
	if (!hash) return false;
	if (!isSolanaChain(chain)) {
		const { status } = await chain.publicClient.getTransactionReceipt({ hash: hash as Hex });
		return status === "success";
	}
	const { value } = await chain.rpc
		.getSignatureStatuses([hash as Signature], { searchTransactionHistory: true })
		.send();
	return value[0]?.err === null;
}

async function expectSettled(
	expect: ExpectStatic,
	swap: StatusResponse,
	{ from, to, recipient }: { from: Side; to: Side; recipient: string },
): Promise<void> {
	expect(swap).toMatchObject({ status: "settled", stage: "delivered" });
	expect(swap).not.toHaveProperty("refundTxHash");
	expect(swap).not.toHaveProperty("failure");
	expect(await isKnown(from.chain, swap.originTxHash)).toBe(true);
	expect(await isKnown(to.chain, swap.deliveryTxHash)).toBe(true);
	expect(swap.funds.amount).toBe(String(await holding(to.chain, to.token, recipient)));
	expectRefusal(expect, await steps.status(swap, { as: stranger }), "SWAP_NOT_FOUND");
}

test.concurrent.for([
	{ way: "to an EVM chain", token: "ORB" },
	{ way: "on Solana alone", token: "SOL" },
])(
	"a swap from Solana $way has hashes and funds in the chains' formats at every moment, and the chains have both transactions [I2.5-3, I2.5-4, I3-2, I3-7, I4-28, D-status-1, D-status-7, D-status-10, D-status-11, D-status-12]",
	async ({ way, token }, { expect }) => {
		const { destination, solana } = environment;
		const from = { chain: solana, token: "USDC" };
		const to = { chain: way === "on Solana alone" ? solana : destination, token };
		const recipient = isSolanaChain(to.chain)
			? (await generateKeyPairSigner()).address
			: privateKeyToAddress(generatePrivateKey());
		const account = await solana.newWallet({ usdc: tenUsdc });
		const { quote, built, signed } = await steps.scene(account, { to, recipient });
		expectRefusal(expect, await steps.status(quote), "SWAP_NOT_FOUND");
		expect((await steps.submit(built, signed)).body).toEqual({ swapId: quote.swapId, status: "pending" });
		const swap = await watch(expect, { swapId: quote.swapId, from, to });
		await expectSettled(expect, swap, { from, to, recipient });
		expect(swap.orderId).toBe(built.geoOp.orderId);
		// The swap is over, so a call that would wait returns immediately.
		const startedMs = performance.now();
		expect((await callApi(client, `/swap/status/${quote.swapId}`)).body).toEqual(swap);
		expect(performance.now() - startedMs).toBeLessThan(7_500);
	},
);

test.concurrent("the status of a swap to Solana has the payout's signature in base58 and the token's mint [I2.5-4, D-status-1, D-status-12]", async ({
	expect,
}) => {
	const { origin, solana, deployment: pins } = environment;
	const [from, to] = [
		{ chain: origin, token: "USDC" },
		{ chain: solana, token: "USDT" },
	];
	const recipient = (await generateKeyPairSigner()).address;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount: tenUsdc });
	const caller = { client, pins, account };
	const intent = swapIntent({ from: { ...from, amount: tenUsdc }, to, account, recipient });
	// The rent of the recipient's new account is more than three percent of this small amount.
	const signed = await signSwap(caller, intent, { minOutput: (tenUsdc * 95n) / 100n });
	const { swapId } = await submitSigned(caller, signed);
	await expectSettled(expect, await watch(expect, { swapId, from, to }), { from, to, recipient });
});
