import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { brotliCompressSync, constants } from "node:zlib";
import type { ChainKind } from "@geoswap/protocol";
import {
	type Address,
	concatHex,
	decodeFunctionData,
	encodeFunctionResult,
	type Hex,
	hexToBytes,
	isAddressEqual,
	keccak256,
	numberToHex,
	parseAbi,
	parseTransaction,
	type RpcTransactionReceipt,
	recoverTransactionAddress,
	serializeTransaction,
	size,
	type TransactionReceipt,
	type TransactionSerialized,
} from "viem";
import type { TestChain } from "../devnet-chain.ts";
import { gasPriceOracleAddress, l1BlockAddress, opStackPredeploys } from "./op-stack-predeploys.ts";

const oracleAbi = parseAbi([
	"function getL1Fee(bytes data) view returns (uint256)",
	"function getOperatorFee(uint256 gasUsed) view returns (uint256)",
]);
const nodeInterfaceAddress: Address = "0x00000000000000000000000000000000000000C8";
const nodeInterfaceAbi = parseAbi([
	"function gasEstimateL1Component(address to, bool contractCreation, bytes data) view returns (uint64, uint256, uint256)",
]);
const arbGasInfoAddress: Address = "0x000000000000000000000000000000000000006C";

/** Base's scalars in 2024, and an operator fee large enough for tests to measure. */
const opStackTerms = {
	baseFeeScalar: 2_269n,
	blobBaseFeeScalar: 1_055_762n,
	operatorFeeScalar: 400_000_000n,
	operatorFeeConstant: 100_000_000_000n,
};

type Call = { method: string; params: readonly unknown[] };

/** The charge for a transaction beside the gas that anvil counted. */
type Charge = { receipt: Record<string, Hex>; wei: bigint };

/** A node of a rollup, which is anvil plus the fees for data that the rollup would charge. */
export type RollupNode = {
	url: string;
	/** Sets the base fee of Ethereum for the next block, in wei. */
	setL1BaseFee: (wei: bigint) => Promise<void>;
	/** Transactions that would have run out of gas on the rollup. */
	outOfGas: Hex[];
	stop: () => Promise<void>;
};

/**
 * Starts a node in front of a chain that mines each transaction immediately. It is a model of a rollup, which takes the
 * fee for a transaction's data from the sender's balance when the transaction is mined, shows it in receipts as the
 * rollup would, and refuses a sender that could not pay it. The GasPriceOracle of the OP stack is the real one.
 * NodeInterface and ArbGasInfo are stubs.
 */
export async function startRollupNode({
	kind,
	chain,
}: {
	kind: ChainKind;
	chain: TestChain;
}): Promise<RollupNode> {
	const { publicClient, testClient } = chain;
	const charges = new Map<Hex, Promise<Charge>>();
	const outOfGas: Hex[] = [];
	let perL1Byte = 0n;
	await placePredeploys();
	const server = createServer((request, response) => {
		answer(request, response).catch(() => response.destroy());
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		setL1BaseFee,
		outOfGas,
		stop: async () => {
			server.closeAllConnections();
			server.close();
			await once(server, "close");
		},
	};

	async function placePredeploys(): Promise<void> {
		if (kind === "op-stack") {
			for (const { address, code, storage } of opStackPredeploys()) {
				await testClient.setCode({ address, bytecode: code });
				for (const slot of storage) await testClient.setStorageAt({ address, ...slot });
			}
			const { baseFeeScalar, blobBaseFeeScalar, operatorFeeScalar, operatorFeeConstant } = opStackTerms;
			await setL1Block(3, (baseFeeScalar << 96n) | (blobBaseFeeScalar << 64n));
			await setL1Block(8, (operatorFeeScalar << 64n) | operatorFeeConstant);
		}
		// Code that returns its first six storage slots to every call.
		const slots = Array.from({ length: 6 }, (_, i) =>
			concatHex(["0x60", byte(i), "0x5460", byte(32 * i), "0x52"]),
		);
		if (kind === "arbitrum") {
			const bytecode = concatHex([...slots, "0x60c06000f3"]);
			await testClient.setCode({ address: arbGasInfoAddress, bytecode });
		}
		await setL1BaseFee(1_000_000_000n);
	}

	async function setL1BaseFee(wei: bigint): Promise<void> {
		if (kind === "op-stack") {
			await setL1Block(1, wei);
			await setL1Block(7, wei / 10n);
		}
		if (kind === "arbitrum") {
			// Sixteen units a byte. Batches are posted in blobs, which cost a fraction of calldata.
			perL1Byte = (16n * wei) / 20n;
			await testClient.setStorageAt({ address: arbGasInfoAddress, index: 1, value: word(perL1Byte) });
		}
	}

	function setL1Block(index: number, value: bigint): Promise<void> {
		return testClient.setStorageAt({ address: l1BlockAddress, index, value: word(value) });
	}

	async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const {
			id,
			method,
			params = [],
		} = JSON.parse(Buffer.concat(chunks).toString()) as Partial<Call> & { id: unknown; method: string };
		const result = await resultOf({ method, params }).then(
			(value) => ({ result: value ?? null }),
			(error: { code?: number; shortMessage?: string; details?: string; message: string; data?: Hex }) => ({
				error: {
					code: error.code ?? -32_000,
					message: error.details ?? error.message,
					...(error.data && { data: error.data }),
				},
			}),
		);
		response.writeHead(200, { "content-type": "application/json" });
		response.end(JSON.stringify({ jsonrpc: "2.0", id, ...result }));
	}

	async function resultOf(call: Call): Promise<unknown> {
		if (kind === "eip1559") return forward(call);
		const [first] = call.params;
		if (call.method === "eth_sendRawTransaction") {
			const raw = first as Hex;
			const hash = keccak256(raw);
			// A caller that timed out sends the transaction again, and is charged only once.
			const charging = charges.get(hash) ?? send(raw);
			charges.set(hash, charging);
			charging.catch(() => charges.delete(hash));
			await charging;
			return hash;
		}
		if (call.method === "eth_call" && kind === "arbitrum") {
			const { to, data = "0x" } = first as { to?: Address; data?: Hex };
			if (to && isAddressEqual(to, nodeInterfaceAddress)) return estimateL1Component(data);
		}
		const result = await forward(call);
		return call.method === "eth_getTransactionReceipt" && result
			? charged(result as RpcTransactionReceipt)
			: result;
	}

	function forward(call: Call): Promise<unknown> {
		return publicClient.request(call as never, { retryCount: 0 });
	}

	async function charged(receipt: RpcTransactionReceipt): Promise<unknown> {
		return { ...receipt, ...(await charges.get(receipt.transactionHash))?.receipt };
	}

	async function estimateL1Component(data: Hex): Promise<Hex> {
		const { args } = decodeFunctionData({ abi: nodeInterfaceAbi, data });
		const { baseFeePerGas } = await publicClient.getBlock();
		const baseFee = baseFeePerGas ?? 1n;
		const gas = (perL1Byte * brotliBytes(args[2])) / baseFee;
		// The node adds a tenth, and counts only the call's data.
		return encodeFunctionResult({
			abi: nodeInterfaceAbi,
			result: [(gas * 11n) / 10n, baseFee, perL1Byte / 16n],
		});
	}

	/** Sends the transaction, and takes the fee for its data from its sender, who must hold all that it may cost. */
	async function send(raw: Hex): Promise<Charge> {
		const transaction = parseTransaction(raw);
		const { gas = 0n, maxFeePerGas = 0n, value = 0n } = transaction;
		const from = await recoverTransactionAddress({ serializedTransaction: raw as TransactionSerialized });
		const most = gas * maxFeePerGas + value + (kind === "op-stack" ? await opFee(raw, gas) : 0n);
		if ((await publicClient.getBalance({ address: from })) < most) {
			throw Object.assign(new Error("insufficient funds for gas * price + value"), { code: -32_000 });
		}
		const hash = (await forward({ method: "eth_sendRawTransaction", params: [raw] })) as Hex;
		const receipt = await minedReceipt(chain, hash);
		const charge = kind === "op-stack" ? await opCharge() : await arbitrumCharge();
		const balance = await publicClient.getBalance({ address: from });
		await testClient.setBalance({ address: from, value: balance - charge.wei });
		return charge;

		async function opCharge(): Promise<Charge> {
			const l1Fee = await readL1Fee(raw);
			const { operatorFeeScalar, operatorFeeConstant } = opStackTerms;
			return {
				receipt: {
					l1Fee: numberToHex(l1Fee),
					operatorFeeScalar: numberToHex(operatorFeeScalar),
					operatorFeeConstant: numberToHex(operatorFeeConstant),
				},
				wei: await opFee(raw, receipt.gasUsed),
			};
		}

		async function arbitrumCharge(): Promise<Charge> {
			const { gasUsed, effectiveGasPrice, blockNumber } = receipt;
			const { baseFeePerGas } = await publicClient.getBlock({ blockNumber });
			const posterGas = (perL1Byte * brotliBytes(raw)) / (baseFeePerGas ?? 1n);
			// On the rollup, the call has only the gas that remains after the charge for data. It must emit as many events with
			// that gas.
			const [block] = await publicClient.simulateBlocks({
				blockNumber: blockNumber - 1n,
				blocks: [
					{
						calls: [
							{
								account: from,
								to: transaction.to ?? null,
								data: transaction.data ?? "0x",
								gas: gas > posterGas ? gas - posterGas : 21_000n,
								...(transaction.type === "eip7702" && {
									authorizationList: transaction.authorizationList as never,
								}),
							},
						],
					},
				],
			});
			const again = block?.calls[0];
			if (gas < gasUsed + posterGas || again?.logs?.length !== receipt.logs.length) outOfGas.push(hash);
			return {
				receipt: { gasUsed: numberToHex(gasUsed + posterGas), gasUsedForL1: numberToHex(posterGas) },
				wei: posterGas * effectiveGasPrice,
			};
		}
	}

	/** Calls the real oracle with the real transaction and its 7702 list. The oracle adds the signature's size itself. */
	function readL1Fee(raw: Hex): Promise<bigint> {
		const { r: _, s: __, v: ___, yParity: ____, ...unsigned } = parseTransaction(raw);
		return publicClient.readContract({
			address: gasPriceOracleAddress,
			abi: oracleAbi,
			functionName: "getL1Fee",
			args: [serializeTransaction(unsigned as never)],
		});
	}

	async function opFee(raw: Hex, gas: bigint): Promise<bigint> {
		const operatorFee = await publicClient.readContract({
			address: gasPriceOracleAddress,
			abi: oracleAbi,
			functionName: "getOperatorFee",
			args: [gas],
		});
		return (await readL1Fee(raw)) + operatorFee;
	}
}

/** Waits for the receipt. viem's own wait polls only when there is a new block, and here no block comes by itself. */
async function minedReceipt({ publicClient }: TestChain, hash: Hex): Promise<TransactionReceipt> {
	for (;;) {
		const receipt = await publicClient.getTransactionReceipt({ hash }).catch(() => undefined);
		if (receipt) return receipt;
		await sleep(5);
	}
}

/** Returns a size as Nitro measures it, with fast rather than good compression. */
function brotliBytes(data: Hex): bigint {
	if (size(data) === 0) return 0n;
	const params = { [constants.BROTLI_PARAM_QUALITY]: 1 };
	return BigInt(brotliCompressSync(hexToBytes(data), { params }).length);
}

function byte(value: number): Hex {
	return numberToHex(value, { size: 1 });
}

function word(value: bigint): Hex {
	return numberToHex(value, { size: 32 });
}
