import type { EvmSigner } from "@geoswap/keys/signer";
import { attestationDigest, isSolana } from "@geoswap/protocol";
import type { LocalAccount } from "viem";
import { createAttester } from "../src/attester/create-attester.ts";
import type { EvmChain } from "../src/chain/evm/connect-chain.ts";
import type { SolanaChain } from "../src/chain/solana/connect-solana.ts";
import type { AttesterClient } from "../src/round/attestation/attester-client.ts";
import type { Log } from "../src/telemetry/log.ts";
import { signerOfAccount } from "../test/signer/signer-of-account.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { signForReal } from "./sim-crypto.ts";
import type { SimProcess } from "./sim-process.ts";

/** Milliseconds after which a call to an attester has timed out. */
const timeoutMs = 3_000;

/** Creates an attester that reads the chains through its own nodes. Calls to it take time. */
export function createSimAttester({
	process,
	account,
	chains,
	solana,
	scheduler,
	random,
	nowMs,
	faultOf,
	onSigned,
	log,
}: {
	process: SimProcess;
	account: LocalAccount;
	chains: readonly EvmChain[];
	solana: SolanaChain;
	scheduler: Scheduler;
	random: SeededRandom;
	nowMs: () => number;
	faultOf: () => "down" | "slow" | undefined;
	/** Called with the orders that it signed. */
	onSigned: (kind: "Release" | "Refund", orderIds: readonly string[]) => void;
	log: Log;
}): (asker: SimProcess) => AttesterClient {
	const attester = createAttester({
		codeStateOf: () => "checked",
		config: { chains, solana, earlierAttesterSets: [] },
		signer: attesterSigner(account),
		nowMs,
		log: {
			...log,
			info: (told: { kind?: "Release" | "Refund"; orderIds?: readonly string[] }, text: string) => {
				if (text === "signed" && told.kind && told.orderIds) onSigned(told.kind, told.orderIds);
			},
		} as unknown as Log,
	});
	const url = `http://${process.name}.invalid`;
	return (asker) => {
		const ask = async <T>(what: string, answer: () => Promise<T>): Promise<T> => {
			asker.touch(what);
			const fault = faultOf();
			if (fault === "down") {
				await asker.hear(scheduler.sleep(random.between(1, timeoutMs), `${asker.name} asks ${process.name}`));
				throw new Error(`${url} does not answer`);
			}
			if (fault === "slow") {
				// The attester does its work, but the answer comes too late.
				const isLate = random.chance(0.6);
				await asker.hear(scheduler.sleep(random.between(1_000, 2_900), `${process.name} is slow`));
				const answered = await asker.hear(answer());
				if (isLate) throw new Error(`${url} took too long`);
				return answered;
			}
			await asker.hear(scheduler.sleep(random.between(1, 20), `${asker.name} asks ${process.name}`));
			const answered = await asker.hear(answer());
			asker.touch(`${what} answered`);
			return asker.hear(Promise.resolve(answered));
		};
		return {
			url,
			attest: (kind, orders) => ask("attest", () => attester.attest({ kind, orders })),
			heartbeats: () => ask("heartbeats", () => attester.heartbeats()),
		};
	};
}

/** Returns a signer whose signatures about orders from Solana are real (see `signForReal`). */
function attesterSigner(account: LocalAccount): EvmSigner {
	const signer = signerOfAccount(account);
	return {
		...signer,
		sign: (payload) => {
			const isForProgram = payload.kind === "attestation" && isSolana(payload.message.originChainId);
			if (isForProgram) signForReal(attestationDigest(payload.message));
			return signer.sign(payload);
		},
	};
}
