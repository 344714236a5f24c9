import { readProgramEvents, type SolanaAddress, solanaNativeToken } from "@geoswap/protocol";
import {
	decodeTransactionFromRpcResponse,
	getAccountMetasFromCompiledTransactionMessage,
	getBase58Encoder,
	getInstructionsFromCompiledTransactionMessage,
	isSolanaError,
	MAX_SUPPORTED_TRANSACTION_VERSION,
	type Signature,
	SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR,
} from "@solana/kit";
import { bytesToHex, type Hex } from "viem";
import type { AuditedSolana } from "./audited-solana.ts";
import { type ProgramCall, programCalls, type SolanaInstruction } from "./program-calls.ts";

/**
 * A final transaction's effects on money. All of the service's transactions stay in memory, so each has only the fields
 * that checks need.
 */
export type SolanaTransaction = {
	signature: Hex;
	slot: number;
	isFailed: boolean;
	fee: bigint;
	feePayer: SolanaAddress;
	/** Calls of the service's program, and the orders that its logs name. Logs are hints, because they can be cut. */
	calls: ProgramCall[];
	named: Hex[];
	/** Token accounts created by the transaction. */
	madeAccounts: SolanaAddress[];
	/** Change in lamports by address. Addresses without a change are left out. */
	lamports: Map<SolanaAddress, bigint>;
	/** Change in tokens by token account. Accounts without a change are left out. */
	tokens: Map<SolanaAddress, bigint>;
};

/**
 * Reads one final transaction. A stranger's transaction may be of a version that is newer than this code, or so large
 * that the node refuses to return it.
 */
export async function readSolanaTransaction(
	chain: AuditedSolana,
	signature: Signature,
): Promise<SolanaTransaction | "undecodable"> {
	const found = await askTransaction(chain, signature);
	if (found === "undecodable") return found;
	const meta = found?.meta;
	if (!meta) throw new Error(`the chain lists transaction ${signature}, but does not return it`);
	const decoded = decodeOrUndefined(found);
	if (!decoded) return "undecodable";
	const { addresses, instructions } = decoded;
	const isFailed = meta.err !== null;
	const { program } = chain.deployment;
	const lamports = new Map<SolanaAddress, bigint>();
	addresses.forEach((address, i) => {
		const change = (meta.postBalances[i] ?? 0n) - (meta.preBalances[i] ?? 0n);
		if (change !== 0n) lamports.set(address, change);
	});
	const before = tokenBalances(addresses, meta.preTokenBalances ?? []);
	const after = tokenBalances(addresses, meta.postTokenBalances ?? []);
	const tokens = new Map<SolanaAddress, bigint>();
	for (const address of new Set([...before.keys(), ...after.keys()])) {
		const change = (after.get(address) ?? 0n) - (before.get(address) ?? 0n);
		if (change !== 0n) tokens.set(address, change);
	}
	return {
		signature: hexOfSignature(signature),
		slot: Number(found.slot),
		isFailed,
		fee: meta.fee,
		feePayer: addresses[0],
		calls: isFailed
			? []
			: programCalls(program, { instructions, inner: meta.innerInstructions ?? [], addresses }),
		named: readProgramEvents(meta.logMessages ?? [], program.address).map(({ orderId }) => orderId),
		madeAccounts: [...after.keys()].filter((address) => !before.has(address)),
		lamports,
		tokens,
	};
}

/** Returns the change in an account's balance of its token. */
export function changeOf(
	{ tokens, lamports }: SolanaTransaction,
	{ address, token }: { address: SolanaAddress; token: SolanaAddress },
): bigint {
	return (token === solanaNativeToken ? lamports : tokens).get(address) ?? 0n;
}

export function hexOfSignature(signature: Signature): Hex {
	return bytesToHex(getBase58Encoder().encode(signature) as Uint8Array);
}

async function askTransaction({ rpc }: AuditedSolana, signature: Signature) {
	const asking = rpc.getTransaction(signature, {
		commitment: "finalized",
		encoding: "base64",
		maxSupportedTransactionVersion: MAX_SUPPORTED_TRANSACTION_VERSION,
	});
	try {
		return await asking.send();
	} catch (error) {
		if (!isAboutTransaction(error)) throw error;
	}
	// The node may have had another, temporary reason.
	try {
		return await asking.send();
	} catch (error) {
		if (isAboutTransaction(error)) return "undecodable";
		throw error;
	}
}

/** JSON-RPC codes of errors that any other request could get too: limits, and a node that is behind or lacks history. */
const codesOfNode = [-32_601, -32_004, -32_005, -32_011, -32_014, -32_016, -32_019];

/** Returns true if the node responds but refuses this transaction, for its size or because it has a newer version. */
function isAboutTransaction(error: unknown): boolean {
	if (isSolanaError(error, SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR)) return error.context.statusCode === 413;
	// Codes of JSON-RPC are negative, those of the library are not.
	const code: number = isSolanaError(error) ? error.context.__code : 0;
	return code < 0 && !codesOfNode.includes(code);
}

/** Returns undefined if the bytes cannot be decoded. */
function decodeOrUndefined(
	found: Exclude<Awaited<ReturnType<typeof askTransaction>>, "undecodable" | null>,
): { addresses: [SolanaAddress, ...SolanaAddress[]]; instructions: SolanaInstruction[] } | undefined {
	try {
		const { compiledMessage, loadedAddresses } = decodeTransactionFromRpcResponse(found);
		const [feePayer, ...others] = getAccountMetasFromCompiledTransactionMessage(
			compiledMessage,
			loadedAddresses,
		).map(({ address }) => address);
		if (!feePayer) return undefined;
		const instructions = getInstructionsFromCompiledTransactionMessage(compiledMessage, loadedAddresses).map(
			({ programAddress, accounts = [], data }) => ({
				program: programAddress,
				accounts: accounts.map(({ address }) => address),
				data: new Uint8Array(data ?? []),
			}),
		);
		return { addresses: [feePayer, ...others], instructions };
	} catch {
		return undefined;
	}
}

function tokenBalances(
	addresses: readonly SolanaAddress[],
	balances: readonly { accountIndex: number; uiTokenAmount: { amount: string } }[],
): Map<SolanaAddress, bigint> {
	return new Map(
		balances.map(({ accountIndex, uiTokenAmount }) => {
			const address = addresses[accountIndex];
			if (!address) throw new Error(`a transaction has no account ${accountIndex}`);
			return [address, BigInt(uiTokenAmount.amount)];
		}),
	);
}
