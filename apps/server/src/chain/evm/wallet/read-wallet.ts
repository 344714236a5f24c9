import {
	type Amount,
	accountSlot,
	fromWord,
	geoAccountAbi,
	geoEscrowAbi,
	greater,
	type Milliseconds,
	type Order,
	orderId,
} from "@geoswap/protocol";
import {
	type Address,
	decodeFunctionResult,
	encodeFunctionData,
	erc20Abi,
	type Hex,
	hexToBigInt,
	multicall3Abi,
	prepareEncodeFunctionData,
	slice,
	zeroAddress,
} from "viem";
import { requestChain } from "../../request-chain.ts";
import type { EvmChain } from "../connect-chain.ts";
import { callMulticall, encodeViews, multicallAddress, type View } from "../read/call-multicall.ts";
import { readDelegation, type WalletDelegation, walletDelegation } from "./wallet-delegation.ts";

// Prepared once, because viem otherwise hashes the function's name at each call.
const stateOf = prepareEncodeFunctionData({ abi: geoEscrowAbi, functionName: "orderState" });

/** An order of the wallet that will take this much of the same token once it is opened. */
export type UnopenedOrder = { orderId: Hex; escrow: Address; amount: Amount };

export type WalletReading = {
	delegation: WalletDelegation;
	/** The wallet's balance of the input token, less the inputs of its other unopened orders. */
	available: Amount;
	/** True if the order was opened, by anyone. */
	isOpened: boolean;
};

/**
 * Reads what opening the order depends on, with concurrent requests. The balance and the states of the wallet's other
 * orders are of one block, so that the amount of a just opened order is not subtracted from a balance that it has left
 * already.
 */
export async function readWallet({
	chain,
	order,
	unopened,
}: {
	chain: EvmChain;
	order: Order;
	unopened: readonly UnopenedOrder[];
}): Promise<WalletReading> {
	const wallet = fromWord(order.wallet);
	const token = fromWord(order.inputToken);
	const escrow = fromWord(order.escrow);
	const orders = [{ orderId: orderId(order), escrow }, ...unopened];
	const [delegation, answers] = await Promise.all([
		readDelegation(chain, wallet),
		readViews(chain, [...orders.map(orderState), balanceView(chain, { wallet, token })]),
	]);
	const [state = 0n, ...otherStates] = answers.slice(0, orders.length);
	const balance = answers.at(-1) ?? 0n;
	const claimed = unopened
		.filter((_, i) => otherStates[i] === 0n)
		.reduce((sum, other) => sum + other.amount, 0n);
	return {
		delegation,
		available: balance > claimed ? balance - claimed : 0n,
		isOpened: state !== 0n,
	};
}

/** Returns the call that reads an order's state, which is zero if the order was never opened in this escrow. */
function orderState({ orderId: id, escrow }: { orderId: Hex; escrow: Address }): View {
	return {
		target: escrow,
		callData: encodeFunctionData({ ...stateOf, args: [id] }),
	};
}

// Prepared once, because viem otherwise hashes the functions' names at each call.
const getEthBalance = prepareEncodeFunctionData({ abi: multicall3Abi, functionName: "getEthBalance" });
const balanceOf = prepareEncodeFunctionData({ abi: erc20Abi, functionName: "balanceOf" });

/** Reads all views in one call, at one block. Each must answer with a number. */
async function readViews(chain: EvmChain, views: readonly View[]): Promise<bigint[]> {
	const data = await requestChain(
		chain.chainId,
		callMulticall(chain, encodeViews(views, { allowFailure: false })),
	);
	const answers = decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data });
	return answers.map(({ returnData }) => hexToBigInt(slice(returnData, 0, 32)));
}

/** Returns the call that reads a wallet's balance of a token; the zero address stands for the native token. */
function balanceView(chain: EvmChain, { wallet, token }: { wallet: Address; token: Address }): View {
	if (token === zeroAddress) {
		return {
			target: multicallAddress(chain),
			callData: encodeFunctionData({ ...getEthBalance, args: [wallet] }),
		};
	}
	return {
		target: token,
		callData: encodeFunctionData({ ...balanceOf, args: [wallet] }),
	};
}

/** Reads the wallet's balance of a token; the zero address stands for the native token. */
export async function readBalance(
	chain: EvmChain,
	held: { wallet: Address; token: Address },
): Promise<Amount> {
	const [balance = 0n] = await readViews(chain, [balanceView(chain, held)]);
	return balance;
}

/** The wallet's next nonce at the newest block, and after its pending transactions. */
export type AccountNonces = { latest: number; pending: number };

export async function readAccountNonces(chain: EvmChain, wallet: Address): Promise<AccountNonces> {
	const [latest, pending] = await Promise.all([
		readAccountNonce(chain, wallet, "latest"),
		readAccountNonce(chain, wallet, "pending"),
	]);
	return { latest, pending };
}

/** Reads one of the two nonces. */
export function readAccountNonce(
	{ chainId, client }: EvmChain,
	wallet: Address,
	blockTag: keyof AccountNonces,
): Promise<number> {
	return requestChain(chainId, client.getTransactionCount({ address: wallet, blockTag }));
}

const uint64 = (1n << 64n) - 1n;

/**
 * Reads how often the wallet's mandates were revoked on this chain. It is known regardless of the wallet's delegation.
 */
export async function readEpoch(
	{ chainId, client }: Pick<EvmChain, "chainId" | "client">,
	wallet: Address,
): Promise<bigint> {
	const word = await requestChain(chainId, client.getStorageAt({ address: wallet, slot: accountSlot }));
	return hexToBigInt(word ?? "0x0") & uint64;
}

/** Returns the escrow in whose domain the owner of a wallet signs, if one of the service's delegates is its code. */
export async function readAccountEscrow(
	{ chainId, client, deployment }: EvmChain,
	wallet: Address,
	{ kind }: Pick<WalletDelegation, "kind">,
): Promise<Address> {
	if (kind === "ours") return deployment.contracts.escrow;
	// An earlier account pays an earlier escrow.
	const call = { address: wallet, abi: geoAccountAbi, functionName: "ESCROW" } as const;
	return requestChain(chainId, client.readContract(call));
}

/**
 * The kinds of recipients of a chain's native token, by the gas that a payment may use: an account that exists, without
 * code or with that of our own delegate; one that the payment creates; and any other code, which may use all gas that
 * it gets. An account that exists keeps existing. To become a contract costs its owner about as much gas as the payment
 * then wastes.
 */
export type NativeRecipient = "account" | "new-account" | "contract";

/** Reads what kind of recipient an address is. Stops waiting once the signal aborts. */
export async function readNativeRecipient(
	{ client, deployment }: EvmChain,
	{ address, signal }: { address: Address; signal: AbortSignal },
): Promise<NativeRecipient> {
	const params: [Address, "latest"] = [address, "latest"];
	const [code, nonce, balance] = await Promise.all([
		client.request({ method: "eth_getCode", params }, { signal }),
		client.request({ method: "eth_getTransactionCount", params }, { signal }),
		client.request({ method: "eth_getBalance", params }, { signal }),
	]);
	const delegation = walletDelegation(code, deployment.contracts);
	if (delegation.kind === "other" || delegation.kind === "contract") return "contract";
	// EIP-161: an account without code, nonce and balance does not exist.
	const isEmpty = delegation.kind === "none" && BigInt(nonce) === 0n && BigInt(balance) === 0n;
	return isEmpty ? "new-account" : "account";
}

const uint128 = (1n << 128n) - 1n;

/** Reads the wallet's epoch, and what a mandate's cap on a token leaves now. */
export async function readMandateUse(
	chain: Pick<EvmChain, "chainId" | "client">,
	{
		wallet,
		useSlot: slot,
		maxAmount,
		period,
		nowMs,
	}: { wallet: Address; useSlot: Hex; maxAmount: Amount; period: number; nowMs: Milliseconds },
): Promise<{ epoch: bigint; available: bigint }> {
	const [epoch, word] = await Promise.all([
		readEpoch(chain, wallet),
		requestChain(chain.chainId, chain.client.getStorageAt({ address: wallet, slot })),
	]);
	const spent = hexToBigInt(word ?? "0x0");
	const [used, updatedAt] = [spent & uint128, (spent >> 128n) & uint64];
	// The account computes the same. The whole cap drains away in a period.
	const elapsed = greater(BigInt(Math.floor(nowMs / 1_000)) - updatedAt, 0n);
	const drained = (maxAmount * elapsed) / BigInt(period);
	return { epoch, available: maxAmount - greater(used - drained, 0n) };
}
