import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { receiptMessage, receiptTypedData, type SwapReceipt } from "@geoswap/protocol";
import { waitForSwap } from "@geoswap/sdk";
import { getReceipt, verifyReceipt } from "@geoswap/sdk/receipt";
import { generateKeyPairSigner } from "@solana/kit";
import { parseEther, parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import type { AnyPlan } from "../caller/mixed-swaps.ts";
import { createSubmitter, planRefusal } from "../caller/submitted-swaps.ts";
import { type AnyChain, isSolanaChain } from "../chain/holding.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";
import { signUrgentTransfer } from "../trouble/sign-urgent-transfer.ts";
import { assetAddress } from "../wallet/make-order.ts";

const amount = parseUnits("100", 6);
const cli = join(import.meta.dirname, "../../packages/cli/src/main.ts");

let environment: Environment;
let client: Environment["client"];
let folder: string;

beforeAll(async () => {
	environment = sharedEnvironment();
	client = await environment.newClient();
	folder = mkdtempSync(join(tmpdir(), "geoswap-receipts-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Plans a swap of USDC from one chain to another. */
async function planUsdc(from: AnyChain, to: AnyChain): Promise<AnyPlan> {
	return {
		from: { chain: from, token: "USDC", amount },
		to: { chain: to, token: "USDC" },
		recipient: isSolanaChain(to)
			? (await generateKeyPairSigner()).address
			: privateKeyToAddress(generatePrivateKey()),
	};
}

/** Makes a swap with a new wallet, and returns its receipt once it has ended. */
async function receiptOf(plan: AnyPlan): Promise<SwapReceipt> {
	const { swapId } = await createSubmitter(environment, client).submitNext(plan);
	await waitForSwap(client, swapId);
	return getReceipt(client, swapId);
}

async function settle(from: AnyChain, to: AnyChain): Promise<SwapReceipt> {
	return receiptOf(await planUsdc(from, to));
}

const routes = {
	"an EVM chain to another": () => settle(environment.origin, environment.destination),
	"an EVM chain to Solana": () => settle(environment.origin, environment.solana),
	"Solana to an EVM chain": () => settle(environment.solana, environment.destination),
};

/** Swaps with a wallet that first sends its own transaction, so that the op never opens. */
async function fail(): Promise<SwapReceipt> {
	const { origin, destination, deployment: pins } = environment;
	const account = await environment.newWallet({
		chain: origin,
		token: "USDC",
		amount,
		ethWei: parseEther("1"),
	});
	const caller = { client, pins, account };
	const { from, to, recipient } = await planUsdc(origin, destination);
	const signed = await signSwap(caller, swapIntent({ from, to, recipient, account }));
	const serializedTransaction = await signUrgentTransfer(origin, account, {
		token: assetAddress(origin, "USDC"),
		to: account.address,
		amount: 1n,
	});
	const { swapId } = await submitSigned(caller, signed);
	await origin.publicClient.sendRawTransaction({ serializedTransaction });
	await waitForSwap(client, swapId);
	return getReceipt(client, swapId);
}

/** The endpoints of the nodes themselves, by chain. */
function rpcUrls(): Record<number, string> {
	const { chains, solana } = environment;
	return {
		...Object.fromEntries(chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl])),
		[solana.chainId]: solana.rpcUrl,
	};
}

/** Runs the command without any configuration of a service, with only these files and nodes. */
async function verifyByCommand(
	receipt: unknown,
	{ name, pins = environment.deployment }: { name: string; pins?: Environment["deployment"] },
): Promise<{ exit: number; body: Record<string, unknown> }> {
	const [file, deployment] = [join(folder, `${name}.json`), join(folder, `${name}-deployment.json`)];
	writeFileSync(file, JSON.stringify(receipt));
	writeFileSync(deployment, JSON.stringify(pins));
	const rpc = Object.entries(rpcUrls()).flatMap(([chainId, url]) => ["--rpc", `${chainId}=${url}`]);
	const args = [cli, "verify-receipt", file, "--deployment", deployment, ...rpc, "--json"];
	const env = { PATH: process.env.PATH, GEOSWAP_HOME: join(folder, "no-configuration") };
	const { stdout, code } = await promisify(execFile)(process.execPath, args, { env }).then(
		({ stdout }) => ({ stdout, code: 0 }),
		(error: { stdout: string; code: number }) => error,
	);
	return { exit: code, body: JSON.parse(stdout) };
}

/** Signs a changed receipt with the service's own key, so that only the chains can show that it is false. */
async function forge(
	{ signer: _, signature: __, ...statement }: SwapReceipt,
	changes: Partial<SwapReceipt>,
	without: readonly (keyof SwapReceipt)[] = [],
): Promise<SwapReceipt> {
	const forged = { ...statement, ...changes };
	for (const field of without) delete (forged as Partial<SwapReceipt>)[field];
	const key = privateKeyToAccount(environment.keys.receipt);
	const signature = await key.signTypedData(receiptTypedData(receiptMessage(forged)));
	return { ...forged, signer: key.address, signature };
}

/** Returns the field for which a receipt is refused. */
function fieldOf(receipt: SwapReceipt): Promise<string | undefined> {
	return verifyReceipt(receipt, { pins: environment.deployment, rpcUrls: rpcUrls() }).then(
		() => "accepted",
		({ field }: { field?: string }) => field,
	);
}

test.concurrent.for(Object.entries(routes))(
	"the command verifies the receipt of a swap from %s with only nodes and the deployment file [D-beyond-10]",
	async ([route, settle], { expect }) => {
		const receipt = await settle();
		const name = route.replaceAll(" ", "-");
		const { exit, body } = await verifyByCommand(receipt, { name });
		expect(body, JSON.stringify(body)).toMatchObject({
			receipt: { swapId: receipt.swapId, status: "settled" },
			shown: [
				{ txHash: receipt.originTxHash, chainId: receipt.terms.originChain },
				{ txHash: receipt.deliveryTxHash, chainId: receipt.terms.destinationChain },
			],
			notShown: [],
		});
		expect(exit).toBe(0);
		const raised = { ...receipt, deliveredAmount: String(BigInt(receipt.deliveredAmount ?? 0) + 1n) };
		const changed = await verifyByCommand(raised, { name });
		expect(changed).toMatchObject({ exit: 3, body: { error: { code: "RECEIPT_REFUSED" } } });
		const { receiptSigners: _, ...pins } = environment.deployment;
		expect(await verifyByCommand(receipt, { name, pins })).toMatchObject({
			exit: 3,
			body: { error: { details: { field: "signer" } } },
		});
	},
);

test.concurrent.for(Object.entries(routes))(
	"a receipt of a swap from %s is refused if the chains contradict it, even if the service's key signed it [D-beyond-10]",
	async ([, settle], { expect }) => {
		// One after the other, because a transaction can deliver several orders that are due together.
		const receipt = await settle();
		const other = await settle();
		const { originTxHash, deliveryTxHash } = receipt;
		const delivered = BigInt(receipt.deliveredAmount ?? 0);
		expect(await fieldOf(receipt)).toBe("accepted");
		for (const wrong of [delivered + 1n, delivered - 1n]) {
			expect(await fieldOf(await forge(receipt, { deliveredAmount: String(wrong) }))).toBe("deliveredAmount");
		}
		// Real transactions of the same kind, but of another order.
		for (const field of ["originTxHash", "deliveryTxHash"] as const) {
			const hash = other[field];
			if (!hash) throw new Error("a settled swap has both transactions");
			expect(await fieldOf(await forge(receipt, { [field]: hash }))).toBe(field);
		}
		const swapped = { originTxHash: deliveryTxHash ?? "", deliveryTxHash: originTxHash ?? "" };
		expect(await fieldOf(await forge(receipt, swapped))).toBe("originTxHash");
		const none = `${originTxHash?.slice(0, -4)}1111`;
		expect(await fieldOf(await forge(receipt, { originTxHash: none }))).toBe("originTxHash");
		const undelivered = ["deliveredAmount", "deliveryTxHash"] as const;
		const refunded = { status: "refunded" as const, refundTxHash: originTxHash ?? "" };
		expect(await fieldOf(await forge(receipt, refunded, undelivered))).toBe("refundTxHash");
		if (receipt.terms.originChain !== environment.solana.chainId) {
			const failed = await forge(receipt, { status: "failed" }, [...undelivered, "originTxHash"]);
			expect(await fieldOf(failed)).toBe("status");
		}
	},
);

test.concurrent("the receipt of a refunded swap is verified by the command, and refused if the chains contradict it, regardless of its signer [D-beyond-10]", async ({
	expect,
}) => {
	const receipt = await receiptOf(await planRefusal(environment));
	const { originTxHash = "", refundTxHash = "" } = receipt;
	const { chainId } = environment.origin;
	const { exit, body } = await verifyByCommand(receipt, { name: "refunded" });
	expect(body, JSON.stringify(body)).toMatchObject({
		receipt: { swapId: receipt.swapId, status: "refunded" },
		shown: [
			{ txHash: originTxHash, chainId },
			{ txHash: refundTxHash, chainId, fact: "the whole input went back to the wallet" },
		],
		notShown: [],
	});
	expect(exit).toBe(0);
	// The transaction that opened the order did not refund it, nor did that of another order open it.
	const wrong = await forge(receipt, { refundTxHash: originTxHash });
	expect(await fieldOf(wrong)).toBe("refundTxHash");
	expect(await verifyByCommand(wrong, { name: "refunded-wrong" })).toMatchObject({
		exit: 3,
		body: { error: { code: "RECEIPT_REFUSED", details: { field: "refundTxHash" } } },
	});
	expect(await fieldOf(await forge(receipt, { originTxHash: refundTxHash }))).toBe("originTxHash");
	const delivery = { deliveryTxHash: refundTxHash, deliveredAmount: receipt.terms.output };
	const settled = await forge(receipt, { status: "settled", ...delivery }, ["refundTxHash"]);
	expect(await fieldOf(settled)).toBe("deliveryTxHash");
	const failed = await forge(receipt, { status: "failed" }, ["originTxHash", "refundTxHash"]);
	expect(await fieldOf(failed)).toBe("status");
});

test.concurrent("the receipt of a failed swap is verified by the command, and refused if the chains contradict it, regardless of its signer [D-beyond-10]", async ({
	expect,
}) => {
	const { origin, destination } = environment;
	const [receipt, other] = await Promise.all([fail(), settle(origin, destination)]);
	const { exit, body } = await verifyByCommand(receipt, { name: "failed" });
	expect(body, JSON.stringify(body)).toMatchObject({
		receipt: { swapId: receipt.swapId, status: "failed" },
		shown: [{ chainId: origin.chainId }],
		notShown: [],
	});
	expect(exit).toBe(0);
	const { originTxHash = "", deliveryTxHash = "" } = other;
	const refunded = await forge(receipt, { status: "refunded", refundTxHash: originTxHash });
	expect(await fieldOf(refunded)).not.toBe("accepted");
	expect(await verifyByCommand(refunded, { name: "failed-wrong" })).toMatchObject({
		exit: 3,
		body: { error: { code: "RECEIPT_REFUSED" } },
	});
	expect(
		await fieldOf(await forge(receipt, { status: "refunded", refundTxHash: originTxHash, originTxHash })),
	).toBe("originTxHash");
	const delivery = { deliveryTxHash, deliveredAmount: receipt.terms.output };
	expect(await fieldOf(await forge(receipt, { status: "settled", ...delivery }))).toBe("deliveryTxHash");
});

test.concurrent("with a node of another chain, or one that does not respond, a receipt is neither accepted nor refused", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const receipt = await settle(origin, destination);
	const urls = rpcUrls();
	for (const url of [urls[destination.chainId], "http://127.0.0.1:1", undefined]) {
		const { [origin.chainId]: _, ...others } = urls;
		const mixed = url === undefined ? others : { ...others, [origin.chainId]: url };
		await expect(verifyReceipt(receipt, { pins, rpcUrls: mixed })).rejects.toMatchObject({
			code: "RPC_UNAVAILABLE",
		});
	}
});

test.concurrent("a receipt is refused while the swap is pending, and to other accounts [D-beyond-10]", async ({
	expect,
}) => {
	const plan = await planUsdc(environment.origin, environment.destination);
	const { swapId } = await createSubmitter(environment, client).submitNext(plan);
	expectRefusal(expect, await callApi(client, `/swaps/${swapId}/receipt`), "SWAP_NOT_ENDED");
	const other = await environment.newClient();
	expectRefusal(expect, await callApi(other, `/swaps/${swapId}/receipt`), "SWAP_NOT_FOUND");
});
