import { deriveDevnetKeys } from "@geoswap/devnet";
import {
	attestationDigest,
	attestationMessage,
	type Decision,
	type Order,
	openTransaction,
	orderId,
	packDeadlines,
	type SolanaAddress,
	type SolanaDeployment,
	solanaChainId,
	toSolanaWord,
} from "@geoswap/protocol";
import {
	createKeyPairSignerFromPrivateKeyBytes,
	type KeyPairSigner,
	type RpcTransport,
	signBytes,
} from "@solana/kit";
import { bytesToHex, type Hex, toHex } from "viem";
import { sign } from "viem/accounts";
import { connectSolana, type SolanaCommitment } from "../../src/chain/solana/connect-solana.ts";
import { readOrders, readRecords } from "../../src/chain/solana/program/read-orders.ts";
import { signEnding, signVoid } from "../../src/chain/solana/program/sign-ending.ts";
import { signFill } from "../../src/chain/solana/program/sign-fill.ts";
import { readBlockhash, readSlots } from "../../src/chain/solana/read/read-slots.ts";
import { readSolanaWallet } from "../../src/chain/solana/read/read-solana-wallet.ts";
import { readStatuses, toSignature } from "../../src/chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import type { SignedTransaction, SolanaKeys } from "../../src/chain/solana/send/sign-instructions.ts";
import { coSignOrder } from "../../src/chain/solana/wallet/co-sign-order.ts";
import { solanaOrder } from "../../test/order/solana-order-scene.ts";

/**
 * A Solana chain whose slots advance only on request. Blocks are confirmed after 2 slots and final after 32, and every
 * tenth slot has none.
 */
export type SolanaSubject = {
	deployment: SolanaDeployment;
	keys: SolanaKeys;
	transport: RpcTransport;
	slots: (count: number) => Promise<void>;
	give: (gift: { token: SolanaAddress; owner: SolanaAddress; amount: bigint }) => Promise<void>;
	fork: (fork: { depth: number; keep: readonly string[] }) => Promise<void>;
	stallFinality: (isStalled: boolean) => Promise<void>;
	/** Moves the clock of all later blocks. */
	passTime: (seconds: number) => Promise<void>;
	stop: () => Promise<void>;
};

export const subjectOptions = { confirmedSlots: 2, finalitySlots: 32, skipEvery: 10 };

const computePrice = 1_000n;

/**
 * Creates the service's actions on orders of such a chain, by the service's own code. No two wallets or orders are the
 * same.
 */
export function solanaContractScene(subject: SolanaSubject) {
	const { deployment, keys, transport, slots } = subject;
	const { program } = deployment;
	const chain = connectSolana({ rpcUrl: "", deployment, transport });
	const [feePayer] = keys.feePayers;
	if (!feePayer) throw new Error("there is no fee payer");
	const usdc = deployment.settlementToken;
	let made = 0;

	const parts = async () => {
		const { blockhash } = await readBlockhash(chain);
		return { deployment, operator: keys.operator, feePayer, blockhash, computePrice };
	};
	/** Returns the deadlines of an order that begins now, by the chain's clock. */
	const deadlines = async () => {
		const { confirmed } = await readSlots(chain);
		const now = BigInt(confirmed.timestamp ?? 0);
		return packDeadlines({ openDeadline: now + 300n, fillDeadline: now + 600n, refundAfter: now + 900n });
	};
	/** Returns the signatures of two attesters over the order. */
	const attested = async (kind: "Release" | "Refund", order: Order): Promise<Decision> => {
		const hash = attestationDigest(attestationMessage(kind, [order]));
		const attesters = deriveDevnetKeys().attesters.slice(0, 2);
		const signatures = await Promise.all(
			attesters.map((privateKey): Promise<Hex> => sign({ hash, privateKey, to: "hex" })),
		);
		return { by: "attesters", set: program.attesterSet, signatures };
	};
	const newWallet = (): Promise<KeyPairSigner> => {
		made += 1;
		return createKeyPairSignerFromPrivateKeyBytes(Uint8Array.from({ length: 32 }, (_, i) => (i ? made : 77)));
	};
	const send = async (signed: SignedTransaction): Promise<SignedTransaction> => {
		await sendRaw(chain, signed.raw);
		return signed;
	};

	return {
		chain,
		usdc,
		feePayer: feePayer.address,
		send,
		newWallet,
		/** Sends a transaction and waits until it is confirmed. */
		land: async (signed: SignedTransaction): Promise<SignedTransaction> => {
			await send(signed);
			await slots(4);
			return signed;
		},
		/** Returns an order with its wallet, which holds the input. */
		orderFrom: async (): Promise<{ order: Order; wallet: KeyPairSigner }> => {
			const wallet = await newWallet();
			const order = solanaOrder({
				deployment,
				wallet: wallet.address,
				attesterSet: program.attesterSet.hash,
				swapKey: toHex(made, { size: 32 }),
				deadlines: await deadlines(),
			});
			await subject.give({ token: usdc, owner: wallet.address, amount: order.inputAmount });
			return { order, wallet };
		},
		/** Returns an order with its recipient, who has no account for the output. */
		orderTo: async (): Promise<{ order: Order; recipient: SolanaAddress }> => {
			const { address: recipient } = await newWallet();
			const order = solanaOrder({
				deployment,
				wallet: recipient,
				originChainId: 31337n,
				destinationChainId: BigInt(solanaChainId),
				destinationVault: toSolanaWord(deployment.program.vault),
				recipient: toSolanaWord(recipient),
				outputToken: toSolanaWord(usdc),
				swapKey: toHex(made, { size: 32 }),
				deadlines: await deadlines(),
			});
			return { order, recipient };
		},
		signDeposit: async (order: Order, wallet: KeyPairSigner): Promise<SignedTransaction> => {
			const { blockhash } = await readBlockhash(chain);
			const compute = { unitLimit: 100_000, microLamportsPerUnit: computePrice };
			const op = { feePayer: feePayer.address, blockhash, compute };
			const { message } = await openTransaction(deployment, order, op);
			const signature = bytesToHex(new Uint8Array(await signBytes(wallet.keyPair.privateKey, message)));
			return coSignOrder({ deployment, order, op: { ...op, signature }, feePayerKey: feePayer });
		},
		signPayout: async (order: Order, changes: { blockhash?: string; createsAccount?: boolean } = {}) =>
			signFill({
				...(await parts()),
				order,
				amount: order.minOutput,
				createsAccount: true,
				...changes,
			}),
		signVoid: async (order: Order) => signVoid({ ...(await parts()), order }),
		signRelease: async (order: Order) =>
			signEnding({ ...(await parts()), order, to: "vault", decision: await attested("Release", order) }),
		signRefund: async (order: Order) =>
			signEnding({ ...(await parts()), order, to: "wallet", decision: await attested("Refund", order) }),
		/** Refunds an order without attesters, which the program allows from its `refundAfter` on. */
		signExpiry: async (order: Order) =>
			signEnding({ ...(await parts()), order, to: "wallet", decision: { by: "time" } }),
		balance: async (owner: SolanaAddress): Promise<bigint> =>
			(await readSolanaWallet(chain, { wallet: owner, token: toSolanaWord(usdc) })).balance,
		/** Returns the state of an order from this chain, and whether it was paid. */
		state: async (order: Order, commitment: SolanaCommitment = "confirmed") => {
			const [account] = await readOrders(chain, { orderIds: [orderId(order)], commitment });
			return account && `${account.state}${account.isPaid ? ", paid" : ""}`;
		},
		/** Returns what the program has recorded about an order from another chain. */
		record: async (order: Order, commitment: SolanaCommitment = "confirmed") => {
			const [reading] = await readRecords(chain, { orderIds: [orderId(order)], commitment });
			return reading?.record?.state;
		},
		/** Returns the time that the program reads, in seconds. */
		programTime: async (): Promise<number> => {
			const [reading] = await readRecords(chain, {
				orderIds: [toHex(1, { size: 32 })],
				commitment: "confirmed",
			});
			return Number(reading?.unixSeconds);
		},
		status: async ({ signature }: { signature: Hex }) => (await readStatuses(chain, [signature]))[0],
		/** Returns a node's status of a transaction, at any commitment. */
		rawStatus: async ({ signature }: { signature: Hex }) => {
			const asked = [toSignature(signature)];
			const { value } = await chain.rpc
				.getSignatureStatuses(asked, { searchTransactionHistory: true })
				.send();
			return value[0];
		},
		lamports: async (address: SolanaAddress): Promise<bigint> =>
			(await chain.rpc.getBalance(address, { commitment: "confirmed" }).send()).value,
		/** Returns the raw answer to a call. */
		ask: (method: string, params: readonly unknown[]) =>
			transport<{ result?: unknown; error?: { code: number; message: string } }>({
				payload: { jsonrpc: "2.0", id: 1, method, params },
			}),
	};
}
