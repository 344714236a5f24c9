import { solanaKeyVariables, startTestSolana, type TestSolana } from "@geoswap/devnet";
import {
	type Order,
	openTransaction,
	packDeadlines,
	type SolanaAddress,
	solanaChainId,
	toSolanaWord,
} from "@geoswap/protocol";
import {
	createKeyPairSignerFromBytes,
	generateKeyPairSigner,
	type KeyPairSigner,
	signBytes,
} from "@solana/kit";
import { bytesToHex, type Hex, toHex } from "viem";
import { expect } from "vitest";
import { connectSolana, type SolanaChain } from "../../src/chain/solana/connect-solana.ts";
import { type Landed, readLanded } from "../../src/chain/solana/read/read-landed.ts";
import { readBlockhash } from "../../src/chain/solana/read/read-slots.ts";
import { readStatuses } from "../../src/chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import type { SignedTransaction, SolanaKeys } from "../../src/chain/solana/send/sign-instructions.ts";
import { coSignOrder } from "../../src/chain/solana/wallet/co-sign-order.ts";
import { solanaOrder } from "../order/solana-order-scene.ts";
import { solanaKeysOf } from "../signer/solana-keys-of.ts";

/** A fast Solana chain for the test alone, with the service's keys and a wallet. */
export type SolanaChainScene = {
	solana: TestSolana;
	chain: SolanaChain;
	keys: SolanaKeys;
	feePayer: KeyPairSigner;
	wallet: KeyPairSigner;
	tokens: { usdc: SolanaAddress; usdt: SolanaAddress };
	/** Returns the parameters for signing, with the newest blockhash. */
	parts: () => Promise<{
		deployment: SolanaChain["deployment"];
		operator: SolanaKeys["operator"];
		feePayer: KeyPairSigner;
		blockhash: string;
		computePrice: bigint;
	}>;
	/** Returns an order that differs from all earlier ones. */
	order: (changes?: Partial<Order>) => Order;
	/** Returns an order to Solana from an EVM chain. */
	orderTo: (recipient: SolanaAddress, changes?: Partial<Order>) => Order;
	/** Sends a transaction and waits until it is in a block. */
	land: (signed: SignedTransaction) => Promise<Landed>;
	/** Opens the order, as its wallet does. */
	deposit: (order: Order) => Promise<Landed>;
	newWallet: () => Promise<KeyPairSigner>;
	stop: () => Promise<void>;
};

function deadlinesFromNow(): Order["deadlines"] {
	const now = BigInt(Math.floor(Date.now() / 1_000));
	return packDeadlines({ openDeadline: now + 300n, fillDeadline: now + 900n, refundAfter: now + 4_000n });
}

export async function solanaChainScene(
	options: Parameters<typeof startTestSolana>[0] = { slotMs: 100 },
): Promise<SolanaChainScene> {
	const solana = await startTestSolana(options);
	const chain = connectSolana(solana);
	const keys = await solanaKeysOf(solanaKeyVariables(solana.keys), solana.deployment);
	const [feePayer] = keys.feePayers;
	const [walletKey] = solana.keys.wallets;
	if (!feePayer || !walletKey) throw new Error("the devnet has no keys");
	const wallet = await createKeyPairSignerFromBytes(walletKey);
	const mintOf = (symbol: string): SolanaAddress => {
		const asset = solana.deployment.assets.find((one) => one.symbol === symbol);
		if (!asset) throw new Error(`the devnet has no ${symbol}`);
		return asset.address;
	};
	let orders = 0n;
	const order = (changes: Partial<Order> = {}): Order =>
		solanaOrder({
			deployment: solana.deployment,
			swapKey: toHex(++orders, { size: 32 }),
			deadlines: deadlinesFromNow(),
			...changes,
			wallet: wallet.address,
		});
	const land = async (signed: SignedTransaction): Promise<Landed> => {
		await sendRaw(chain, signed.raw);
		await expect
			.poll(async () => (await readStatuses(chain, [signed.signature]))[0], { timeout: 15_000 })
			.toBeDefined();
		const landed = await readLanded(chain, signed.signature);
		if (!landed) throw new Error("a transaction with a status is not there");
		return landed;
	};
	return {
		solana,
		chain,
		keys,
		feePayer,
		wallet,
		tokens: { usdc: mintOf("USDC"), usdt: mintOf("USDT") },
		parts: async () => ({
			deployment: solana.deployment,
			operator: keys.operator,
			feePayer,
			blockhash: (await readBlockhash(chain)).blockhash,
			computePrice: 1_000n,
		}),
		order,
		orderTo: (recipient, changes = {}) =>
			order({
				originChainId: 31337n,
				destinationChainId: BigInt(solanaChainId),
				destinationVault: toSolanaWord(solana.deployment.program.vault),
				recipient: toSolanaWord(recipient),
				outputToken: toSolanaWord(solana.deployment.settlementToken),
				minOutput: 1_000_000n,
				...changes,
			}),
		land,
		deposit: async (deposited) => {
			const { blockhash } = await readBlockhash(chain);
			const compute = { unitLimit: 80_000, microLamportsPerUnit: 1_000n };
			const op = { feePayer: feePayer.address, blockhash, compute };
			const { message } = await openTransaction(solana.deployment, deposited, op);
			const signature: Hex = bytesToHex(await signBytes(wallet.keyPair.privateKey, message));
			return land(
				await coSignOrder({
					deployment: solana.deployment,
					order: deposited,
					op: { ...op, signature },
					feePayerKey: feePayer,
				}),
			);
		},
		newWallet: () => generateKeyPairSigner(),
		stop: solana.stop,
	};
}
