import { randomBytes } from "node:crypto";
import { deriveDevnetKeys, type TestSolana } from "@geoswap/devnet";
import {
	type AttestationKind,
	attestationDigest,
	attestationMessage,
	type Decision,
	newSwapUuid,
	type Order,
	openTransaction,
	type SolanaAddress,
	toSolanaWord,
	toSwapKey,
	transferInstruction,
} from "@geoswap/protocol";
import { createKeyPairSignerFromBytes, type Instruction, type KeyPairSigner, signBytes } from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import { sign } from "viem/accounts";
import { connectSolana } from "../../src/chain/solana/connect-solana.ts";
import { signEnding, signVoid } from "../../src/chain/solana/program/sign-ending.ts";
import { signFill } from "../../src/chain/solana/program/sign-fill.ts";
import { readLanded } from "../../src/chain/solana/read/read-landed.ts";
import { readBlockhash } from "../../src/chain/solana/read/read-slots.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import { type SignedTransaction, signInstructions } from "../../src/chain/solana/send/sign-instructions.ts";
import { coSignOrder } from "../../src/chain/solana/wallet/co-sign-order.ts";

/**
 * Creates actions on orders of a test Solana, each by its own transaction, which is confirmed when the action returns.
 * If the chain was started with long slots, only these actions let slots pass.
 */
export async function solanaActions(solana: TestSolana) {
	const { deployment, admin } = solana;
	const { address: program, vault, attesterSet } = deployment.program;
	const chain = connectSolana(solana);
	const signers = (list: Uint8Array[]) => Promise.all(list.map((key) => createKeyPairSignerFromBytes(key)));
	const wallets = await signers(solana.keys.wallets);
	const [stranger] = (await signers(solana.keys.strangers)) as [KeyPairSigner];
	const [feePayer] = (await signers(solana.keys.feePayers)) as [KeyPairSigner];
	const [operator, vaultOwner] = (await signers([solana.keys.operator, solana.keys.vaultOwner])) as [
		KeyPairSigner,
		KeyPairSigner,
	];

	const parts = async () => {
		const { blockhash } = await readBlockhash(chain);
		return { deployment, operator, feePayer, blockhash, computePrice: 1_000n };
	};
	/** Signs with as many of the devnet's attesters as an order needs, regardless of the chains' state. */
	const attest = (kind: AttestationKind, order: Order): Promise<Hex[]> => {
		const hash = attestationDigest(attestationMessage(kind, [order]));
		const keys = deriveDevnetKeys().attesters.slice(0, attesterSet.threshold);
		return Promise.all(keys.map((privateKey) => sign({ hash, privateKey, to: "hex" })));
	};
	const byAttesters = async (kind: AttestationKind, order: Order): Promise<Decision> => ({
		by: "attesters",
		set: attesterSet,
		signatures: await attest(kind, order),
	});
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
		feePayer,
		operator,
		vaultOwner,
		wallets,
		stranger,
		/** Returns the word of an asset. */
		word: (symbol: string): Hex => toSolanaWord(assetOf(symbol)),

		/** Returns the order with its output on Solana, at least 9 USDC by default. */
		toSolana(
			order: Order,
			{
				symbol = "USDC",
				recipient = (wallets[0] as KeyPairSigner).address,
				minOutput = 9_000_000n,
				topUp = 0n,
			}: { symbol?: string; recipient?: SolanaAddress; minOutput?: bigint; topUp?: bigint } = {},
		): Order {
			return {
				...order,
				destinationChainId: BigInt(deployment.chainId),
				destinationVault: toSolanaWord(vault),
				outputToken: toSolanaWord(assetOf(symbol)),
				recipient: toSolanaWord(recipient),
				minOutput,
				topUp,
				swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
			};
		},

		/** Returns the order with its input on Solana, 10 USDC of the first wallet by default. */
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
				escrow: toSolanaWord(program),
				originVault: toSolanaWord(vault),
				attesterSet: attesterSet.hash,
				wallet: toSolanaWord(wallet.address),
				inputToken: toSolanaWord(assetOf(symbol)),
				inputAmount,
				swapKey: toSwapKey(newSwapUuid({ nowMs: Date.now(), random: randomBytes(10) })),
			};
		},

		/** Returns a deposit signed by the wallet and by the fee payer, and not sent. */
		async signDeposit(order: Order, wallet = wallets[0] as KeyPairSigner): Promise<SignedTransaction> {
			const { blockhash } = await parts();
			const compute = { unitLimit: 80_000, microLamportsPerUnit: 1_000n };
			const message = { feePayer: feePayer.address, blockhash, compute };
			const built = await openTransaction(deployment, order, message);
			const signature = bytesToHex(await signBytes(wallet.keyPair.privateKey, built.message));
			return coSignOrder({ deployment, order, op: { ...message, signature }, feePayerKey: feePayer });
		},
		attest,
		async signFill(order: Order, amount: bigint, { createsAccount = false } = {}) {
			return signFill({ ...(await parts()), order, amount, createsAccount });
		},
		async signVoid(order: Order) {
			return signVoid({ ...(await parts()), order });
		},
		async signRelease(order: Order) {
			const decision = await byAttesters("Release", order);
			return signEnding({ ...(await parts()), order, to: "vault", decision });
		},
		/** Signs a refund by attesters, unless another decision is given. */
		async signRefund(order: Order, decision?: Decision) {
			const by = decision ?? (await byAttesters("Refund", order));
			return signEnding({ ...(await parts()), order, to: "wallet", decision: by });
		},
		/** Signs any other transaction that a holder of the service's keys could make. */
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
		land,

		transfer: (symbol: string, amount: bigint, { from, to }: { from: KeyPairSigner; to: SolanaAddress }) =>
			transferInstruction(deployment, { from, to, token: toSolanaWord(assetOf(symbol)), amount }),

		/** Lets enough slots pass to make all before them final. */
		finalize: () => admin.warp({ slots: 40 }),
	};
}

export type SolanaActions = Awaited<ReturnType<typeof solanaActions>>;
