import {
	attestationMessage,
	attestationTypedData,
	type Bundle,
	type ChainDeployment,
	encodeBundle,
	geoEscrowAbi,
	type Opening,
	type Order,
	orderDigest,
	orderProof,
	orderTerms,
	orderTypedData,
	packDeadlines,
	type SignatureKind,
	toSwapKey,
	toWord,
} from "@geoswap/protocol";
import {
	type Address,
	custom,
	encodeFunctionData,
	type Hex,
	keccak256,
	parseEther,
	parseGwei,
	RpcRequestError,
	type SignedAuthorization,
	stringToHex,
	zeroAddress,
} from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { connectChain, type EvmChain } from "../../src/chain/evm/connect-chain.ts";
import { type SendOutcome, sendRaw } from "../../src/chain/evm/send/send-raw.ts";
import { RpcFailure } from "../sim-chain.ts";
import { tokenAbi } from "./token-abi.ts";

/** A chain with the service's contracts on it, which mines only on request. */
export type EvmSubject = {
	deployment: ChainDeployment;
	keys: { relayers: Hex[]; attesters: Hex[]; guardian: Hex; deployer: Hex; treasury: Hex };
	/** Throws an `RpcFailure` for an error that the node returns. */
	request: (method: string, params: readonly unknown[]) => Promise<unknown>;
	/** Mines one block, this many seconds after the last, with all pending transactions. */
	mine: (secondsLater: number) => Promise<void>;
	/** Drops the newest blocks and their transactions. */
	reorg: (depth: number) => Promise<void>;
	giveNative: (holder: Address, amount: bigint) => Promise<void>;
	/** Places code that refuses every call. */
	refuseAll: (address: Address) => Promise<void>;
	stop: () => Promise<void>;
};

export type EvmScene = Awaited<ReturnType<typeof createEvmScene>>;

type Sending = {
	to?: Address;
	data?: Hex;
	value?: bigint;
	gas?: bigint;
	nonce?: number;
	feeGwei?: string;
	authorizationList?: SignedAuthorization[];
};
type RawReceipt = {
	status: Hex;
	gasUsed: Hex;
	effectiveGasPrice: Hex;
	blockHash: Hex;
	blockNumber: Hex;
	transactionHash: Hex;
	from: Address;
	to: Address;
	type: Hex;
	logs: RawLog[];
};
export type RawLog = { address: Address; topics: Hex[]; data: Hex };

const otherChainId = 424_242n;
const otherVault: Address = "0x00000000000000000000000000000000000ABcDE";

/** Creates the actions of a story on a subject. A story's names, keys and times are the same on every subject. */
export async function createEvmScene(subject: EvmSubject, story: string) {
	const { deployment, keys, request } = subject;
	const { escrow, vault, delegate, typedDelegate } = deployment.contracts;
	const { chainId } = deployment;
	const asset = (symbol: string): Address => {
		const found = deployment.assets.find((candidate) => candidate.symbol === symbol);
		if (!found) throw new Error(`no asset ${symbol}`);
		return found.address;
	};
	const account = (key: Hex | undefined) => privateKeyToAccount(key ?? "0x");
	const walletOf = (name: string) => account(keccak256(stringToHex(`${story}/${name}`)));
	const wallet = walletOf("wallet");
	const relayer = account(keys.relayers[0]);
	let orders = 0;

	const chain: EvmChain = connectChain({
		chainId,
		rpcUrl: "http://127.0.0.1:1",
		deployment,
		transport: custom(
			{
				request: async ({ method, params }: { method: string; params?: readonly unknown[] }) => {
					try {
						return await request(method, params ?? []);
					} catch (error) {
						if (!(error instanceof RpcFailure)) throw error;
						const { code, message, data } = error;
						throw new RpcRequestError({ body: {}, error: { code, message, data }, url: "subject" });
					}
				},
			},
			{ retryCount: 0 },
		),
	});

	const now = async (): Promise<bigint> => (await chain.client.getBlock()).timestamp;
	const nonceOf = async (address: Address, tag = "latest") =>
		Number(await request("eth_getTransactionCount", [address, tag]));

	async function sign(from: PrivateKeyAccount, sending: Sending): Promise<Hex> {
		const { nonce = await nonceOf(from.address), feeGwei = "20", authorizationList, ...rest } = sending;
		const fees = { maxFeePerGas: parseGwei(feeGwei), maxPriorityFeePerGas: parseGwei(feeGwei) / 10n };
		const transaction = { gas: 5_000_000n, ...rest, ...fees, chainId, nonce };
		return authorizationList
			? from.signTransaction({ ...transaction, type: "eip7702", authorizationList })
			: from.signTransaction({ ...transaction, type: "eip1559" });
	}

	const offer = async (from: PrivateKeyAccount, sending: Sending): Promise<SendOutcome["outcome"]> =>
		(await sendRaw(chain, await sign(from, sending))).outcome;

	const receiptOf = (hash: Hex) => request("eth_getTransactionReceipt", [hash]) as Promise<RawReceipt | null>;

	/** Sends a transaction, mines a block and returns the receipt. */
	async function land(from: PrivateKeyAccount, sending: Sending, { secondsLater = 1 } = {}) {
		const raw = await sign(from, sending);
		await request("eth_sendRawTransaction", [raw]);
		await subject.mine(secondsLater);
		const receipt = await receiptOf(keccak256(raw));
		if (!receipt) throw new Error("the transaction is in no block");
		return receipt;
	}

	const mint = (symbol: string, to: Address, amount: bigint) =>
		land(relayer, {
			to: asset(symbol),
			data: encodeFunctionData({ abi: tokenAbi, functionName: "mint", args: [to, amount] }),
		});

	/** Returns an order of 10 USDC of the wallet to the other chain, with a minute for each step. */
	async function makeOrder(terms: Partial<Order> = {}): Promise<Order> {
		const at = await now();
		orders++;
		const swap = keccak256(stringToHex(`${story}/${orders}`)).slice(2, 34);
		const uuid = `${swap.slice(0, 8)}-${swap.slice(8, 12)}-7${swap.slice(13, 16)}-8${swap.slice(17, 20)}-${swap.slice(20)}`;
		return {
			originChainId: BigInt(chainId),
			destinationChainId: otherChainId,
			escrow: toWord(escrow),
			originVault: toWord(vault),
			destinationVault: toWord(otherVault),
			attesterSet: deployment.attesterSet.hash,
			wallet: toWord(wallet.address),
			inputToken: toWord(asset("USDC")),
			inputAmount: 10_000_000n,
			outputToken: toWord(asset("USDC")),
			minOutput: 9_900_000n,
			recipient: toWord(wallet.address),
			topUp: 0n,
			swapKey: toSwapKey(uuid as Parameters<typeof toSwapKey>[0]),
			deadlines: packDeadlines({
				openDeadline: at + 60n,
				fillDeadline: at + 120n,
				refundAfter: at + 180n,
			}),
			...terms,
		};
	}

	/**
	 * Returns an order whose output this chain's vault delivers, from the other chain unless `terms` contain another one.
	 */
	const makeFillable = (terms: Partial<Order> = {}) =>
		makeOrder({
			originChainId: otherChainId,
			escrow: toWord(otherVault),
			destinationChainId: BigInt(chainId),
			destinationVault: toWord(vault),
			...terms,
		});

	/** Returns an order of the wallet with its proof. */
	async function signedOpening(
		order: Order,
		{
			signer = wallet,
			kind = "personal",
			gas = 400_000n,
		}: { signer?: PrivateKeyAccount; kind?: SignatureKind; gas?: bigint } = {},
	): Promise<Opening> {
		const signature =
			kind === "typed"
				? await signer.signTypedData(orderTypedData(order))
				: await signer.signMessage({ message: { raw: orderDigest(order) } });
		return {
			wallet: wallet.address,
			gas,
			terms: orderTerms(order),
			proof: orderProof({ kind, signature }),
		};
	}

	const openMany = (openings: Opening[]): Sending => encodeBundle({ kind: "open", escrow, openings });
	const openFor = ({ wallet: payer, terms, proof }: Opening): Sending => ({
		to: escrow,
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "openFor", args: [payer, terms, proof] }),
	});

	const authorize = (signer: PrivateKeyAccount, nonce: number, address: Address = delegate) =>
		signer.signAuthorization({ address, chainId, nonce }) as Promise<SignedAuthorization>;

	/** Opens an order by transactions of the wallet itself. */
	async function openOrder(order: Order): Promise<RawReceipt> {
		await subject.giveNative(wallet.address, parseEther("10"));
		const isNative = order.inputToken === toWord(zeroAddress);
		if (!isNative) {
			await mint("USDC", wallet.address, order.inputAmount);
			const args = [escrow, order.inputAmount] as const;
			const data = encodeFunctionData({ abi: tokenAbi, functionName: "approve", args });
			await land(wallet, { to: asset("USDC"), data });
		}
		return land(wallet, {
			to: escrow,
			data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "open", args: [orderTerms(order)] }),
			value: isNative ? order.inputAmount : 0n,
		});
	}

	const fillBundle = (fills: { order: Order; amount: bigint }[]): Bundle => ({
		kind: "fill",
		vault,
		fills: fills.map((fill) => ({ ...fill, minOutput: 0n, poolFee: 0, secondPoolFee: 0 })),
	});
	const fillMany = (fills: { order: Order; amount: bigint }[]): Sending => encodeBundle(fillBundle(fills));

	async function attestation(
		kind: "Release" | "Refund",
		list: Order[],
		{ threshold = deployment.attesterSet.threshold, signers = keys.attesters.slice(0, 2) } = {},
	) {
		const typedData = attestationTypedData(attestationMessage(kind, list));
		const signatures = await Promise.all(signers.map((key) => account(key).signTypedData(typedData)));
		return { threshold: BigInt(threshold), attesters: deployment.attesterSet.attesters, signatures };
	}

	const decideMany = async (
		kind: "Release" | "Refund",
		list: Order[],
		options?: Parameters<typeof attestation>[2],
	): Promise<Sending> => ({
		to: escrow,
		data: encodeFunctionData({
			abi: geoEscrowAbi,
			functionName: kind === "Release" ? "releaseMany" : "refundMany",
			args: [list, await attestation(kind, list, options)],
		}),
	});

	const refund = (order: Order): Sending => ({
		to: escrow,
		data: encodeFunctionData({ abi: geoEscrowAbi, functionName: "refund", args: [order] }),
	});

	/** Returns the result of a call now, or the bytes with which it reverts. */
	async function call(
		from: Address,
		{ to, data, value }: Sending,
	): Promise<{ said: Hex } | { reverts: Hex }> {
		try {
			const fields = { from, to, data, ...(value ? { value: `0x${value.toString(16)}` } : {}) };
			return { said: (await request("eth_call", [fields, "latest"])) as Hex };
		} catch (error) {
			if (!(error instanceof RpcFailure)) throw error;
			return { reverts: (error.data ?? "0x") as Hex };
		}
	}

	const balanceOf = (symbol: string, holder: Address) =>
		chain.client.readContract({
			address: asset(symbol),
			abi: tokenAbi,
			functionName: "balanceOf",
			args: [holder],
		});

	return {
		subject,
		chain,
		chainId,
		deployment,
		keys,
		request,
		asset,
		account,
		walletOf,
		wallet,
		relayer,
		escrow,
		vault,
		delegate,
		typedDelegate,
		now,
		nonceOf,
		sign,
		offer,
		receiptOf,
		land,
		mint,
		makeOrder,
		makeFillable,
		signedOpening,
		openMany,
		openFor,
		authorize,
		openOrder,
		fillBundle,
		fillMany,
		attestation,
		decideMany,
		refund,
		call,
		balanceOf,
	};
}
