import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import type { Instruction, KeyPairSigner } from "@solana/kit";
import { signSolana } from "./sign-solana.ts";
import type { SolanaTestChain } from "./solana-chain.ts";

const timeoutMs = 20_000;

/** Sends a transaction that a third party signs and pays for, not the service, and waits until it is confirmed. */
export async function sendSolana(
	{ rpc }: Pick<SolanaTestChain, "rpc">,
	{ feePayer, instructions }: { feePayer: KeyPairSigner; instructions: readonly Instruction[] },
): Promise<void> {
	const { signature, wire } = await signSolana({ rpc }, { feePayer, instructions });
	await rpc.sendTransaction(wire, { encoding: "base64" }).send();
	for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(100)) {
		const [status] = (await rpc.getSignatureStatuses([signature]).send()).value;
		if (status?.err) throw new Error(`${signature} failed: ${inspect(status.err)}`);
		if (["confirmed", "finalized"].includes(status?.confirmationStatus ?? "")) return;
	}
	throw new Error(`${signature} was not confirmed within ${timeoutMs / 1_000} s`);
}
