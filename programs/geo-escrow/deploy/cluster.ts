import { setTimeout } from "node:timers/promises";
import type { SolanaAddress } from "@geoswap/protocol";
import {
	appendTransactionMessageInstructions,
	createSolanaRpc,
	createTransactionMessage,
	getBase64EncodedWireTransaction,
	getBase64Encoder,
	getSignatureFromTransaction,
	type Instruction,
	pipe,
	setTransactionMessageFeePayerSigner,
	setTransactionMessageLifetimeUsingBlockhash,
	signTransactionMessageWithSigners,
	type TransactionSigner,
} from "@solana/kit";
import {
	getSetComputeUnitLimitInstruction,
	getSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";
import { DeployError } from "./deploy-error.ts";

export type ReadAccount = { owner: SolanaAddress; lamports: bigint; data: Uint8Array };

/** A node of a cluster, and the key that pays. */
export type Cluster = Awaited<ReturnType<typeof connectCluster>>;

/** The first poll comes soon; later ones wait for about a slot. */
const pollMs = [50, 100, 200, 400];
/** A node silently drops transactions that it could not forward, so they are sent again. */
const pollsUntilSentAgain = 5;

export async function connectCluster({
	rpcUrl,
	payer,
	microLamportsPerUnit,
}: {
	rpcUrl: string;
	payer: TransactionSigner;
	microLamportsPerUnit: bigint;
}) {
	const rpc = createSolanaRpc(rpcUrl);
	const genesisHash: string = await rpc.getGenesisHash().send();

	async function read(address: SolanaAddress): Promise<ReadAccount | undefined> {
		const { value } = await rpc
			.getAccountInfo(address, { commitment: "confirmed", encoding: "base64" })
			.send();
		if (!value) return undefined;
		const data = new Uint8Array(getBase64Encoder().encode(value.data[0]));
		return { owner: value.owner, lamports: value.lamports, data };
	}

	/** Sends a transaction and waits until it is confirmed. Returns its signature. */
	async function send(instructions: readonly Instruction[], unitLimit = 200_000): Promise<string> {
		const { value: lifetime } = await rpc.getLatestBlockhash({ commitment: "confirmed" }).send();
		const message = pipe(
			createTransactionMessage({ version: 0 }),
			(empty) => setTransactionMessageFeePayerSigner(payer, empty),
			(paid) => setTransactionMessageLifetimeUsingBlockhash(lifetime, paid),
			(living) =>
				appendTransactionMessageInstructions(
					[
						getSetComputeUnitLimitInstruction({ units: unitLimit }),
						getSetComputeUnitPriceInstruction({ microLamports: microLamportsPerUnit }),
						...instructions,
					],
					living,
				),
		);
		const signed = await signTransactionMessageWithSigners(message);
		const signature = getSignatureFromTransaction(signed);
		const wire = getBase64EncodedWireTransaction(signed);
		for (let poll = 0; ; poll++) {
			if (poll % pollsUntilSentAgain === 0) {
				await rpc.sendTransaction(wire, { encoding: "base64", skipPreflight: poll > 0 }).send();
			}
			await setTimeout(pollMs[Math.min(poll, pollMs.length - 1)]);
			const { value } = await rpc.getSignatureStatuses([signature]).send();
			const status = value[0];
			if (status?.err) {
				throw new DeployError(`${signature} failed: ${JSON.stringify(status.err, bigintsAsText)}`, {
					next: "look the transaction up in an explorer; its logs say why",
				});
			}
			if (status && status.confirmationStatus !== "processed") return signature;
			const height = await rpc.getBlockHeight({ commitment: "confirmed" }).send();
			if (!status && height > lifetime.lastValidBlockHeight) {
				throw new DeployError(`${signature} did not land`, {
					next: "run again, with a higher --compute-price if the cluster is busy; steps that are done are not repeated",
				});
			}
		}
	}

	return {
		genesisHash,
		payer,
		read,
		send,
		rentOf: (bytes: number): Promise<bigint> => rpc.getMinimumBalanceForRentExemption(BigInt(bytes)).send(),
	};
}

function bigintsAsText(_: string, value: unknown): unknown {
	return typeof value === "bigint" ? String(value) : value;
}
