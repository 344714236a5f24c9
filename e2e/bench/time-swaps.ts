import type { TestChain } from "@geoswap/devnet";
import { createClient, waitForSwap } from "@geoswap/sdk";
import { type Hex, parseEther, parseGwei, parseUnits } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { delegateWallet } from "../delegate-wallet.ts";
import { signSwap, submitSigned, swapIntent } from "../do-swap.ts";
import { type Environment, joinEnvironment } from "../environment.ts";
import type { SwapsLoad } from "./load-process.ts";

export type SwapsResult = {
	/** From the submit to the answer that says settled; from one transaction's sending to the other's receipt. */
	swapMs: number[];
	bareMs: number[];
	settled: number;
	settledPerSecond: number;
};

const amount = parseUnits("100", 6);

/** Swaps, so many at a time, and beside each two bare transactions in sequence that begin at the same moment. */
export async function timeSwaps({ environment: address, count, inFlight }: SwapsLoad): Promise<SwapsResult> {
	const environment = joinEnvironment(address);
	const result: SwapsResult = { swapMs: [], bareMs: [], settled: 0, settledPerSecond: 0 };
	let left = count;
	const takeOne = async () => (left-- > 0 ? prepare(environment) : undefined);
	const first = await Promise.all(Array.from({ length: inFlight }, takeOne));
	const startedAt = performance.now();
	await Promise.all(
		first.map(async (prepared) => {
			for (let current = prepared; current; ) {
				// Made ready while this one is under way, so that as many are under way as asked for.
				const next = takeOne();
				const [swap, bareMs] = await Promise.all([timed(current.swap), timed(current.bare)]);
				result.swapMs.push(swap.ms);
				result.bareMs.push(bareMs.ms);
				if (swap.value === "settled") result.settled += 1;
				current = await next;
			}
		}),
	);
	result.settledPerSecond = result.settled / ((performance.now() - startedAt) / 1_000);
	return result;
}

async function prepare(
	environment: Environment,
): Promise<{ swap: () => Promise<string>; bare: () => Promise<void> }> {
	const { origin, destination, deployment: pins, baseUrl, apiKey } = environment;
	const client = createClient({ baseUrl, apiKey });
	const account = await environment.newWallet({ chain: origin, token: "USDC", amount });
	// As most swaps are: a wallet's first one travels in a transaction of its own.
	await delegateWallet(origin, account);
	const sender = privateKeyToAccount(generatePrivateKey());
	const chains = [origin, destination];
	const raw = await Promise.all(chains.map((chain) => signTransfer(chain, sender)));
	const caller = { client, pins, account };
	const signed = await signSwap(
		caller,
		swapIntent({
			from: { chain: origin, token: "USDC", amount },
			to: { chain: destination, token: "USDC" },
			account,
		}),
	);
	return {
		swap: async () => {
			const { swapId } = await submitSigned(caller, signed);
			return (await waitForSwap(client, swapId)).status;
		},
		bare: async () => {
			for (const [i, { publicClient }] of chains.entries()) {
				const hash = await publicClient.sendRawTransaction({ serializedTransaction: raw[i] ?? "0x" });
				await publicClient.waitForTransactionReceipt({ hash, pollingInterval: 100 });
			}
		},
	};
}

/** A transfer of one wei, signed and not sent. */
async function signTransfer({ chainId, testClient }: TestChain, sender: PrivateKeyAccount): Promise<Hex> {
	await testClient.setBalance({ address: sender.address, value: parseEther("1") });
	return sender.signTransaction({
		...{ chainId, type: "eip1559", nonce: 0, to: sender.address, value: 1n, gas: 21_000n },
		...{ maxFeePerGas: parseGwei("100"), maxPriorityFeePerGas: parseGwei("1") },
	});
}

async function timed<T>(run: () => Promise<T>): Promise<{ value: T; ms: number }> {
	const startedAt = performance.now();
	const value = await run();
	return { value, ms: performance.now() - startedAt };
}
