import type { TestSolana } from "@geoswap/devnet";
import type { SolanaAddress } from "@geoswap/protocol";
import { AccountRole, createKeyPairSignerFromBytes, type Instruction } from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import type { Hex } from "viem";
import { connectSolana } from "../../src/chain/solana/connect-solana.ts";
import { readBlockhash } from "../../src/chain/solana/read/read-slots.ts";
import { readStatuses } from "../../src/chain/solana/read/read-statuses.ts";
import { sendRaw } from "../../src/chain/solana/send/send-raw.ts";
import { signInstructions } from "../../src/chain/solana/send/sign-instructions.ts";

const sendsAtOnce = 16;
const memoProgramAddress = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr" as SolanaAddress;

/**
 * Lands transactions of a stranger that contain these addresses and move nothing of theirs, and returns their
 * signatures. Every second one has a memo that is long in a list of signatures.
 */
export async function floodAddresses(
	solana: TestSolana,
	{ addresses, count }: { addresses: readonly SolanaAddress[]; count: number },
): Promise<Hex[]> {
	const chain = connectSolana(solana);
	const [key] = solana.keys.strangers;
	if (!key) throw new Error("the devnet has no stranger");
	const stranger = await createKeyPairSignerFromBytes(key);
	const { blockhash } = await readBlockhash(chain);
	const signatures: Hex[] = [];
	const sendOne = async (i: number) => {
		const transfer = getTransferSolInstruction({
			source: stranger,
			destination: stranger.address,
			amount: BigInt(i + 1),
		});
		const named = addresses.map((address) => ({ address, role: AccountRole.READONLY }));
		const memo: Instruction = {
			programAddress: memoProgramAddress,
			data: new TextEncoder().encode("\u0001".repeat(400)),
			accounts: [],
		};
		const { raw, signature } = await signInstructions({
			feePayer: stranger,
			blockhash,
			computePrice: 0n,
			unitLimit: 200_000,
			instructions: [
				{ ...transfer, accounts: [...transfer.accounts, ...named] },
				...(i % 2 === 0 ? [] : [memo]),
			],
		});
		signatures[i] = signature;
		await sendRaw(chain, raw);
	};
	for (let start = 0; start < count; start += sendsAtOnce) {
		const some = Array.from({ length: Math.min(sendsAtOnce, count - start) }, (_, i) => start + i);
		await Promise.all(some.map(sendOne));
	}
	await solana.admin.warp({ slots: 4 });
	const statuses = await readStatuses(chain, signatures);
	if (statuses.some((status) => !status || status.isFailed)) throw new Error("a stranger's did not land");
	return signatures;
}
