import { randomBytes } from "node:crypto";
import { solanaKeyVariables, type TestSolana } from "@geoswap/devnet";
import {
	markerAddress,
	newSwapUuid,
	type Order,
	orderId,
	orderTransaction,
	type SolanaAddress,
	toSolanaWord,
	toSwapKey,
} from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, type Instruction, type KeyPairSigner, signBytes } from "@solana/kit";
import { getCloseAccountInstruction } from "@solana-program/token";
import { bytesToHex, type Hex, zeroHash } from "viem";
import { connectSolana } from "../../src/chain/solana/connect-solana.ts";
import { markerInstructions } from "../../src/chain/solana/marker/marker-instructions.ts";
import { readBlockhash } from "../../src/chain/solana/read/read-blockhash.ts";
import { readLanded } from "../../src/chain/solana/read/read-landed.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import { type SignedTransaction, signInstructions } from "../../src/chain/solana/send/sign-instructions.ts";
import { signPayout } from "../../src/chain/solana/send/sign-payout.ts";
import { signRefund } from "../../src/chain/solana/send/sign-refund.ts";
import { signRelease } from "../../src/chain/solana/send/sign-release.ts";
import { signVoid } from "../../src/chain/solana/send/sign-void.ts";
import { transferInstructions } from "../../src/chain/solana/send/transfer-instructions.ts";
import { coSignOrder } from "../../src/chain/solana/wallet/co-sign-order.ts";
import { solanaKeysOf } from "../signer/solana-keys-of.ts";

/**
 * Creates actions on orders of a test Solana, each by a transaction of its own, which is confirmed when it returns. If
 * the chain was started with long slots, only these actions let slots pass.
 */
export async function solanaActions(solana: TestSolana) {
	const { deployment, admin } = solana;
	const chain = connectSolana(solana);
	const keys = await solanaKeysOf(solanaKeyVariables(solana.keys), deployment);
	const [feePayer] = keys.feePayers as [KeyPairSigner];
	const signers = (list: Uint8Array[]) => Promise.all(list.map((key) => createKeyPairSignerFromBytes(key)));
	const wallets = await signers(solana.keys.wallets);
	const [stranger] = (await signers(solana.keys.strangers)) as [KeyPairSigner];

	const parts = async () => {
		const { blockhash } = await readBlockhash(chain);
		return { deployment, keys, feePayer, blockhash, computePrice: 1_000n };
	};
	const land = async ({ raw, signature }: SignedTransaction): Promise<Hex> => {
		await sendRaw(chain, raw);
		await admin.warp({ slots: 4 });
		const landed = await readLanded(chain, signature);
		if (!landed) throw new Error(`${signature} did not land`);
		return signature;
	};

	const assetOf = (symbol: string): SolanaAddress => {
		const asset = deployment.assets.find((candidate) => candidate.symbol === symbol);
		if (!asset) throw new Error(`no asset ${symbol} on Solana`);
		return asset.address;
	};

	return {
		chain,
		keys,
		feePayer,
		wallets,
		stranger,
		/** Returns the word of an asset. */
		word: (symbol: string): Hex => toSolanaWord(assetOf(symbol)),

		/** Returns the order with its output on Solana: at least 9 USDC by default. */
		toSolana(
			order: Order,
			{
				symbol = "USDC",
				recipient = (wallets[0] as KeyPairSigner).address,
				minOutput = 9_000_000n,
			}: { symbol?: string; recipient?: SolanaAddress; minOutput?: bigint } = {},
		): Order {
			return {
				...order,
				destinationChainId: BigInt(deployment.chainId),
				destinationVault: toSolanaWord(deployment.vault),
				outputToken: toSolanaWord(assetOf(symbol)),
				recipient: toSolanaWord(recipient),
				minOutput,
				swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
			};
		},

		/** Returns the order with its input on Solana: 10 USDC of the first wallet by default. */
		fromSolana(
			order: Order,
			{
				symbol = "USDC",
				inputAmount = 10_000_000n,
				wallet = wallets[0] as KeyPairSigner,
			}: { symbol?: string; inputAmount?: bigint; wallet?: KeyPairSigner } = {},
		): Order {
			return {
				...order,
				originChainId: BigInt(deployment.chainId),
				escrow: toSolanaWord(deployment.escrow),
				originVault: toSolanaWord(deployment.vault),
				attesterSet: zeroHash,
				wallet: toSolanaWord(wallet.address),
				inputToken: toSolanaWord(assetOf(symbol)),
				inputAmount,
				swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
			};
		},

		/** Returns a deposit signed by the wallet and by the fee payer, and not sent. */
		async signDeposit(order: Order, wallet = wallets[0] as KeyPairSigner): Promise<SignedTransaction> {
			const { blockhash } = await parts();
			const compute = { unitLimit: 40_000, microLamportsPerUnit: 1_000n };
			const message = { feePayer: feePayer.address, blockhash, compute };
			const built = await orderTransaction(deployment, order, message);
			const signature = bytesToHex(await signBytes(wallet.keyPair.privateKey, built.message));
			return coSignOrder({ deployment, order, op: { ...message, signature }, feePayerKey: feePayer });
		},
		async signPayout(order: Order, amount: bigint, { createsAccount = false } = {}) {
			return signPayout({ ...(await parts()), order, amount, createsAccount });
		},
		async signVoid(order: Order) {
			return signVoid({ ...(await parts()), order });
		},
		async signRelease(order: Order) {
			return signRelease({ ...(await parts()), order });
		},
		async signRefund(order: Order, { createsAccount = false, isVoided = false } = {}) {
			return signRefund({ ...(await parts()), order, createsAccount, isVoided });
		},
		/** Signs any other transaction that somebody with our keys could make. */
		async sign(instructions: readonly Instruction[], { payer = feePayer } = {}) {
			const { blockhash, computePrice } = await parts();
			return signInstructions({
				feePayer: payer,
				blockhash,
				computePrice,
				unitLimit: 200_000,
				instructions,
			});
		},
		/** Signs a transaction that closes the marker whose base and owner are this key. */
		async signClose(order: Order, base: "vault" | "escrow"): Promise<SignedTransaction> {
			const owner = keys[base];
			const account = await markerAddress({ base: owner.address, orderId: orderId(order) });
			return this.sign([getCloseAccountInstruction({ account, destination: feePayer.address, owner })]);
		},
		land,

		marker: (order: Order, { base = keys.vault, owner = keys.vault.address } = {}) =>
			markerInstructions({ feePayer, base, orderId: orderId(order), owner }),
		transfer: (symbol: string, amount: bigint, { from, to }: { from: KeyPairSigner; to: SolanaAddress }) =>
			transferInstructions({ deployment, from, to, token: toSolanaWord(assetOf(symbol)), amount }),

		/** Lets enough slots pass to make all before them final. */
		finalize: () => admin.warp({ slots: 40 }),
	};
}

export type SolanaActions = Awaited<ReturnType<typeof solanaActions>>;
