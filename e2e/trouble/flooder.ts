import { setTimeout as sleep } from "node:timers/promises";
import { readArtifact } from "@geoswap/contracts";
import type { TestChain } from "@geoswap/devnet";
import { geoEscrowAbi, packDeadlines, type Terms, toWord, unpackDeadlines } from "@geoswap/protocol";
import {
	createWalletClient,
	encodeFunctionData,
	getContractAddress,
	type Hash,
	type Hex,
	http,
	pad,
	parseEther,
	toHex,
	zeroAddress,
	zeroHash,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";

/**
 * Ways to make a block too large to read, which are empty logs of a stranger's contract, orders that the service's
 * escrow skips because they do not exist, and orders of one wei.
 */
export const floodKinds = ["empty logs", "skipped orders", "dust orders"] as const;
export type FloodKind = (typeof floodKinds)[number];

/** A stranger with ether who uses the service's contracts. */
export type Flooder = {
	/** Sends the transactions that make the next block hostile. They come before all others in it. */
	flood: (kind: FloodKind) => Promise<Hash[]>;
	/** Refunds the orders of one wei, all of which can be refunded some seconds after they were opened. */
	refundDust: () => Promise<void>;
};

/** As on Base. */
const blockGasLimit = 140_000_000n;
/** The largest transaction that Ethereum takes since EIP-7825 has a little more. */
const transactionGas = 16_000_000n;
/** More than any relayer pays, so that the transaction is among the first of the next block. */
const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };

/** The transactions of a block of skipped orders. `eth_getLogs` returns 12 MB for it, and viem accepts 10 MB. */
const skipped = { transactions: 5, times: 49n, count: 100n };
/** Orders of one wei that a transaction can open or refund. */
const dustCount = 340n;
/** Seconds until an order of one wei can be refunded. */
const dustSeconds = 30n;

const lookMs = 200;

const zeroOrder = {
	originChainId: 0n,
	destinationChainId: 0n,
	escrow: zeroHash,
	originVault: zeroHash,
	destinationVault: zeroHash,
	attesterSet: zeroHash,
	wallet: zeroHash,
	inputToken: zeroHash,
	inputAmount: 0n,
	outputToken: zeroHash,
	minOutput: 0n,
	recipient: zeroHash,
	topUp: 0n,
	swapKey: zeroHash,
	deadlines: 0n,
} as const;

/** Raises the chain's block gas limit and deploys the stranger's contract. */
export async function startFlooder(
	chain: TestChain,
	{
		destination,
		dustTransactions,
	}: {
		/** The chain on which the orders of one wei have their output. */
		destination: TestChain;
		/** Transactions of a block of such orders, with 340 orders in each. */
		dustTransactions: number;
	},
): Promise<Flooder> {
	const { publicClient, testClient, deployment } = chain;
	const { escrow } = deployment.contracts;
	const { abi, bytecode } = readArtifact("DevFlood");
	const account = privateKeyToAccount(generatePrivateKey());
	const client = createWalletClient({ account, chain: chain.chain, transport: http(chain.rpcUrl) });
	const dust: Terms[] = [];
	const contract = getContractAddress({ from: account.address, nonce: 0n });
	let nonce = 0;
	let nextDustKey = 1n;

	await testClient.setBlockGasLimit({ gasLimit: blockGasLimit });
	await deploy();
	const attestation = await attestSkipped();
	const floods: Record<FloodKind, () => Promise<Hash[]>> = {
		"empty logs": async () => [await call("emitEmptyLogs", [])],
		"skipped orders": () => skipOrders(),
		"dust orders": () => openDust(),
	};
	return {
		flood: (kind) => floods[kind](),
		refundDust: async () => {
			const hashes: Hash[] = [];
			for (const terms of dust.splice(0)) {
				const { refundAfter } = unpackDeadlines(terms.deadlines);
				while ((await publicClient.getBlock()).timestamp < refundAfter) await sleep(lookMs);
				hashes.push(await call("refundMany", [escrow, terms, dustCount]));
			}
			for (const hash of hashes) await mined(hash);
		},
	};

	/** Deploys the contract. A balance that is set while the node makes a block can be lost, so it may be set again. */
	async function deploy(): Promise<void> {
		for (;;) {
			await testClient.setBalance({ address: account.address, value: parseEther("100000") });
			try {
				const hash = await client.sendTransaction({ data: bytecode, gas: 5_000_000n, nonce, ...fees });
				nonce++;
				return await mined(hash);
			} catch (error) {
				if (!/insufficient funds/i.test(String(error))) throw error;
			}
		}
	}

	/** Signs for the order of zeros. Anyone may, because an attestation is checked against the set that comes with it. */
	async function attestSkipped() {
		const escrowContract = { address: escrow, abi: geoEscrowAbi } as const;
		const orderId = await publicClient.readContract({
			...escrowContract,
			functionName: "orderIdOf",
			args: [zeroOrder],
		});
		const digest = await publicClient.readContract({
			...escrowContract,
			functionName: "refundDigest",
			args: [Array<Hex>(Number(skipped.count)).fill(orderId)],
		});
		return {
			threshold: 1n,
			attesters: [account.address],
			signatures: [await account.sign({ hash: digest })],
		};
	}

	async function openDust(): Promise<Hash[]> {
		const hashes: Hash[] = [];
		const { timestamp: now } = await publicClient.getBlock();
		for (let n = 0; n < dustTransactions; n++) {
			const terms: Terms = {
				destinationChainId: BigInt(destination.chainId),
				originVault: toWord(deployment.contracts.vault),
				destinationVault: toWord(destination.deployment.contracts.vault),
				attesterSet: deployment.attesterSet.hash,
				inputToken: toWord(zeroAddress),
				inputAmount: 1n,
				outputToken: toWord(zeroAddress),
				minOutput: 1n,
				topUp: 0n,
				recipient: toWord(account.address),
				swapKey: pad(toHex(nextDustKey)),
				deadlines: packDeadlines({
					openDeadline: now + dustSeconds - 2n,
					fillDeadline: now + dustSeconds - 1n,
					refundAfter: now + dustSeconds,
				}),
			};
			nextDustKey += dustCount;
			dust.push(terms);
			hashes.push(await call("openMany", [escrow, terms, dustCount], dustCount));
		}
		return hashes;
	}

	async function skipOrders(): Promise<Hash[]> {
		const hashes: Hash[] = [];
		const { count, times } = skipped;
		for (let n = 0; n < skipped.transactions; n++) {
			hashes.push(await call("skipMany", [escrow, count, times, attestation]));
		}
		return hashes;
	}

	function call(functionName: string, args: readonly unknown[], value = 0n): Promise<Hash> {
		const data = encodeFunctionData({ abi, functionName, args });
		return client.sendTransaction({
			to: contract,
			data,
			value,
			gas: transactionGas,
			nonce: nonce++,
			...fees,
		});
	}

	/** Waits for the transaction itself, because its receipt may be too large to read. */
	async function mined(hash: Hash): Promise<void> {
		while ((await publicClient.getTransaction({ hash })).blockNumber === null) await sleep(lookMs);
	}
}
