import type { Milliseconds } from "@geoswap/protocol";
import type { Address, Hash, Hex } from "viem";
import { checkMessage } from "../../chain/evm/cctp/decode-message.ts";
import {
	type Attested,
	type Iris,
	type IrisAnswer,
	readAttestation,
} from "../../chain/evm/cctp/read-attestation.ts";
import { readBurn } from "../../chain/evm/cctp/read-burn.ts";
import {
	type CctpContracts,
	readIsNonceUsed,
	readMint,
	readMintRefusal,
} from "../../chain/evm/cctp/read-mint.ts";
import type { EvmChain } from "../../chain/evm/connect-chain.ts";
import { readBlock } from "../../chain/evm/read/read-block.ts";
import { type CctpFacts, type CctpMove, type CctpStep, nextCctpStep } from "./cctp.ts";

/** A move with what is needed to find it on its two chains. */
export type CctpMoveRow = CctpMove & {
	moveId: Hex;
	/** The transaction of the burn. Undefined until one is signed. */
	transactionHash?: Hash;
	/** The vault that bridges. */
	vault: Address;
	/** The destination's newest block before the burn was signed. The mint is in a later one. */
	destinationBlock: number;
};

type Look = {
	origin: EvmChain;
	destination: EvmChain;
	/** Circle's contracts on the destination. */
	contracts: CctpContracts;
	iris: Iris;
	nowMs: Milliseconds;
	isMintInFlight: boolean;
	/** Returns whether the row of another move has this nonce. */
	isNonceOfAnother: (nonce: Hex) => boolean | Promise<boolean>;
};

/**
 * Reads what the chains and Iris show of a move, and decides its next step. Reads Iris only if the chains do not show
 * enough, so the step is never to read an attestation. Throws if a chain does not answer.
 */
export async function lookAtCctpMove(row: CctpMoveRow, look: Look): Promise<CctpStep> {
	const { nowMs, isMintInFlight, origin } = look;
	const { transactionHash, vault, moveId } = row;
	const burn = transactionHash && (await readBurn(origin, { transactionHash, vault, moveId }));
	const decide = async (iris?: IrisAnswer): Promise<CctpStep> => {
		const attested = iris?.status === "complete" ? iris : row.attested;
		const noMint = { isNonceOfAnother: false, isNonceUsed: false };
		return nextCctpStep(row, {
			nowMs,
			burn,
			isMintInFlight,
			...(iris ? { iris } : {}),
			...(burn && attested ? await readMintFacts(row, attested, look) : noMint),
		});
	};
	const step = await decide();
	if (step.kind !== "read attestation" || !transactionHash) return step;
	const { sourceDomain } = row.burn;
	return decide(await readAttestation(look.iris, { sourceDomain, transactionHash }));
}

type MintFacts = Pick<CctpFacts, "isNonceOfAnother" | "isNonceUsed" | "mint" | "refusal">;

/** Reads what the destination shows of an attested message. Nothing is looked up for a wrong message. */
async function readMintFacts(
	{ burn, destinationBlock }: CctpMoveRow,
	attested: Attested,
	{ destination, contracts, isMintInFlight, ...look }: Look,
): Promise<MintFacts> {
	const checked = checkMessage(attested.message, burn);
	if ("problem" in checked) return { isNonceOfAnother: false, isNonceUsed: false };
	const { nonce } = checked.message;
	const [latest, finalized, isNonceUsed, isNonceOfAnother] = await Promise.all([
		readBlock(destination, "latest"),
		readBlock(destination, "finalized"),
		readIsNonceUsed(destination, contracts, nonce),
		look.isNonceOfAnother(nonce),
	]);
	const facts: MintFacts = { isNonceOfAnother, isNonceUsed };
	if (isNonceUsed) {
		const blocks = { nonce, fromBlock: destinationBlock, toBlock: latest.number };
		const mint = await readMint(destination, contracts, blocks);
		if (mint) facts.mint = { ...mint, isFinal: mint.blockNumber <= finalized.number };
	} else if (!isMintInFlight) {
		const refusal = await readMintRefusal(destination, contracts, attested);
		if (refusal) facts.refusal = { ...refusal, message: attested.message };
	}
	return facts;
}
