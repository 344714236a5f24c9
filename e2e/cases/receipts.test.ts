import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { receiptMessage, receiptTypedData, type SwapReceipt } from "@geoswap/protocol";
import { getReceipt, verifyReceipt } from "@geoswap/sdk/receipt";
import { generateKeyPairSigner } from "@solana/kit";
import { parseUnits } from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, test } from "vitest";
import { callApi } from "../caller/call-api.ts";
import { doSolanaSwap } from "../caller/do-solana-swap.ts";
import { doSwap, signSwap, submitSigned, swapIntent } from "../caller/do-swap.ts";
import type { Environment } from "../environment/environment.ts";
import { expectRefusal } from "../expect/expect-refusal.ts";
import { sharedEnvironment } from "../shared-environment.ts";

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

const routes = {
	"an EVM chain to another": () => swapBetweenEvmChains(),
	"an EVM chain to Solana": async () => {
		const { origin, solana, deployment: pins } = environment;
		const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
		const intent = swapIntent({
			from: { chain: origin, token: "USDC", amount },
			to: { chain: solana, token: "USDC" },
			account,
			recipient: (await generateKeyPairSigner()).address,
		});
		return getReceipt(client, (await doSwap({ client, pins, account }, intent)).swap.swapId);
	},
	"Solana to an EVM chain": async () => {
		const { destination, solana, deployment: pins } = environment;
		const account = await solana.newWallet({ usdc: amount });
		const intent = swapIntent({
			from: { chain: solana, token: "USDC", amount },
			to: { chain: destination, token: "USDC" },
			account,
			recipient: privateKeyToAddress(generatePrivateKey()),
		});
		return getReceipt(client, (await doSolanaSwap({ client, pins, account }, intent)).swap.swapId);
	},
};

async function swapBetweenEvmChains(): Promise<SwapReceipt> {
	const { origin, destination, deployment: pins } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		account,
	});
	return getReceipt(client, (await doSwap({ client, pins, account }, intent)).swap.swapId);
}

/** The endpoints of the nodes themselves, by chain. */
function rpcUrls(): Record<number, string> {
	const { chains, solana } = environment;
	return {
		...Object.fromEntries(chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl])),
		[solana.chainId]: solana.rpcUrl,
	};
}

/** Runs the command as someone does who has never configured a service, and has only these files and nodes. */
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

/** Signs a changed receipt with the service's own key: only the chains can tell that it is false. */
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

test.concurrent.for(Object.entries(routes))(
	"the receipt of a swap from %s is verified by the command with nothing but nodes and the deployment file [D-beyond-10]",
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
	"a receipt of a swap from %s that the service's own key signed is refused if the chains contradict it [D-beyond-10]",
	async ([, settle], { expect }) => {
		// One after the other: a transaction can deliver several orders that are due at once.
		const receipt = await settle();
		const other = await settle();
		const { originTxHash, deliveryTxHash } = receipt;
		const options = { pins: environment.deployment, rpcUrls: rpcUrls() };
		const delivered = BigInt(receipt.deliveredAmount ?? 0);
		const fieldOf = (forged: SwapReceipt) =>
			verifyReceipt(forged, options).then(
				() => "accepted",
				({ field }: { field?: string }) => field,
			);
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

test.concurrent("a node of another chain, or one that does not answer, shows nothing: the receipt is neither accepted nor refused", async ({
	expect,
}) => {
	const { origin, destination, deployment: pins } = environment;
	const receipt = await swapBetweenEvmChains();
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
	const { origin, destination, deployment: pins } = environment;
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	const intent = swapIntent({
		from: { chain: origin, token: "USDC", amount },
		to: { chain: destination, token: "USDC" },
		account,
	});
	const caller = { client, pins, account };
	const { swapId } = await submitSigned(caller, await signSwap(caller, intent));
	expectRefusal(expect, await callApi(client, `/swaps/${swapId}/receipt`), "SWAP_NOT_ENDED");
	const other = await environment.newClient();
	expectRefusal(expect, await callApi(other, `/swaps/${swapId}/receipt`), "SWAP_NOT_FOUND");
});
