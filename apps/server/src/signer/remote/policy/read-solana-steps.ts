import {
	memoProgramAddress,
	type SolanaAddress,
	tokenAccountOf,
	tokenAccountRentLamports,
	tokenAccountSize,
} from "@geoswap/protocol";
import {
	type AccountMeta,
	AccountRole,
	appendTransactionMessageInstructions,
	type Blockhash,
	bytesEqual,
	type CompiledTransactionMessage,
	compileTransaction,
	createAddressWithSeed,
	createNoopSigner,
	createTransactionMessage,
	getCompiledTransactionMessageDecoder,
	type Instruction,
	pipe,
	type ReadonlyUint8Array,
	setTransactionMessageFeePayer,
	setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import {
	COMPUTE_BUDGET_PROGRAM_ADDRESS,
	getSetComputeUnitLimitInstruction,
	getSetComputeUnitPriceInstruction,
	parseSetComputeUnitLimitInstruction,
	parseSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";
import { getAddMemoInstruction } from "@solana-program/memo";
import {
	getAllocateWithSeedInstruction,
	getTransferSolInstruction,
	identifySystemInstruction,
	parseAllocateWithSeedInstruction,
	parseTransferSolInstruction,
	SYSTEM_PROGRAM_ADDRESS,
	SystemInstruction,
} from "@solana-program/system";
import {
	ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
	getCloseAccountInstruction,
	getCreateAssociatedTokenIdempotentInstruction,
	getInitializeAccount3Instruction,
	getTransferCheckedInstruction,
	identifyTokenInstruction,
	parseCloseAccountInstruction,
	parseCreateAssociatedTokenIdempotentInstruction,
	parseInitializeAccount3Instruction,
	parseTransferCheckedInstruction,
	TOKEN_PROGRAM_ADDRESS,
	TokenInstruction,
} from "@solana-program/token";
import { nativeMint } from "../../../chain/solana/marker/marker-instructions.ts";
import { Refusal, refuse } from "./refusal.ts";

/** One instruction of a message, or the three that make a marker. */
export type SolanaStep =
	| { do: "pay-lamports"; from: SolanaAddress; to: SolanaAddress; amount: bigint }
	| {
			do: "pay-tokens";
			from: SolanaAddress;
			/** The token account that is paid. */
			to: SolanaAddress;
			mint: SolanaAddress;
			amount: bigint;
			decimals: number;
	  }
	| { do: "make-account"; account: SolanaAddress; owner: SolanaAddress; mint: SolanaAddress }
	| { do: "make-marker"; marker: SolanaAddress; base: SolanaAddress; seed: string; owner: SolanaAddress }
	| { do: "close"; account: SolanaAddress; owner: SolanaAddress }
	| { do: "memo"; text: string };

export type SolanaMessage = {
	feePayer: SolanaAddress;
	/** All keys that must sign, the fee payer first. */
	signers: SolanaAddress[];
	unitLimit: number;
	microLamportsPerUnit: bigint;
	steps: SolanaStep[];
};

/**
 * Reads a message. Refuses one that is not, byte for byte, what our own builders make of the same steps: nothing in it
 * is left unread, whether an account, a flag, an instruction or a lookup table.
 */
export async function readSolanaMessage(bytes: Uint8Array): Promise<SolanaMessage> {
	try {
		const compiled = getCompiledTransactionMessageDecoder().decode(bytes);
		if (compiled.version !== 0) refuse("malformed", "the message is not of version 0");
		const message = readSteps(compiled);
		const again = await writeMessage(message, compiled.lifetimeToken as Blockhash);
		if (!bytesEqual(again, bytes)) refuse("malformed", "the message has bytes that no lane writes");
		return message;
	} catch (error) {
		if (error instanceof Refusal) throw error;
		return refuse("malformed", `the message cannot be read: ${(error as Error).message.split("\n")[0]}`);
	}
}

type Compiled = Extract<CompiledTransactionMessage, { version: 0 }> & { lifetimeToken?: string };
type Read = Instruction & { accounts: AccountMeta[]; data: ReadonlyUint8Array };

function readSteps(compiled: Compiled): SolanaMessage {
	const { staticAccounts, header } = compiled;
	const at = (index: number): SolanaAddress =>
		staticAccounts[index] ?? refuse("malformed", "an account of the message is in a lookup table");
	const instructions = compiled.instructions.map(
		({ programAddressIndex, accountIndices = [], data = new Uint8Array() }): Read => ({
			programAddress: at(programAddressIndex),
			// The parsers want no roles; the comparison with the rebuilt bytes checks them.
			accounts: accountIndices.map((index) => ({ address: at(index), role: AccountRole.READONLY })),
			data,
		}),
	);
	const [limit, price, ...rest] = instructions;
	const isBudget = (one: Read | undefined) => one?.programAddress === COMPUTE_BUDGET_PROGRAM_ADDRESS;
	if (!limit || !price || !isBudget(limit) || !isBudget(price))
		return refuse("malformed", "the message does not begin with its compute budget");
	const steps: SolanaStep[] = [];
	for (let i = 0; i < rest.length; ) {
		const marker = readMarker(rest.slice(i, i + 3), at(0));
		const step = marker ?? readStep(rest[i] as Read);
		steps.push(step);
		i += marker ? 3 : 1;
	}
	return {
		feePayer: at(0),
		signers: staticAccounts.slice(0, header.numSignerAccounts),
		unitLimit: parseSetComputeUnitLimitInstruction(limit).data.units,
		microLamportsPerUnit: parseSetComputeUnitPriceInstruction(price).data.microLamports,
		steps,
	};
}

function readStep(instruction: Read): SolanaStep {
	switch (instruction.programAddress) {
		case SYSTEM_PROGRAM_ADDRESS: {
			const { accounts, data } = parseTransferSolInstruction(expectSystem(instruction));
			return {
				do: "pay-lamports",
				from: accounts.source.address,
				to: accounts.destination.address,
				amount: data.amount,
			};
		}
		case TOKEN_PROGRAM_ADDRESS:
			return readTokenStep(instruction);
		case ASSOCIATED_TOKEN_PROGRAM_ADDRESS: {
			const { accounts } = parseCreateAssociatedTokenIdempotentInstruction(instruction);
			return {
				do: "make-account",
				account: accounts.ata.address,
				owner: accounts.owner.address,
				mint: accounts.mint.address,
			};
		}
		case memoProgramAddress:
			return {
				do: "memo",
				text: new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array(instruction.data)),
			};
		default:
			return refuse("not-ours", `no lane calls the program ${instruction.programAddress}`);
	}
}

function expectSystem(instruction: Read): Read {
	if (identifySystemInstruction(instruction) !== SystemInstruction.TransferSol)
		refuse("malformed", "no lane makes that call of the System program");
	return instruction;
}

function readTokenStep(instruction: Read): SolanaStep {
	switch (identifyTokenInstruction(instruction)) {
		case TokenInstruction.TransferChecked: {
			const { accounts, data } = parseTransferCheckedInstruction(instruction);
			return {
				do: "pay-tokens",
				from: accounts.authority.address,
				to: accounts.destination.address,
				mint: accounts.mint.address,
				amount: data.amount,
				decimals: data.decimals,
			};
		}
		case TokenInstruction.CloseAccount: {
			const { accounts } = parseCloseAccountInstruction(instruction);
			return { do: "close", account: accounts.account.address, owner: accounts.owner.address };
		}
		default:
			return refuse("malformed", "no lane makes that call of the Token program");
	}
}

/** Returns the marker that these three instructions make; undefined if they do something else. */
function readMarker(three: readonly Read[], feePayer: SolanaAddress): SolanaStep | undefined {
	const [rent, allocate, initialize] = three;
	if (!rent || !allocate || !initialize) return undefined;
	if (
		allocate.programAddress !== SYSTEM_PROGRAM_ADDRESS ||
		initialize.programAddress !== TOKEN_PROGRAM_ADDRESS
	)
		return undefined;
	if (
		identifySystemInstruction(allocate) !== SystemInstruction.AllocateWithSeed ||
		identifyTokenInstruction(initialize) !== TokenInstruction.InitializeAccount3
	) {
		return undefined;
	}
	const paid = parseTransferSolInstruction(expectSystem(rent));
	const { accounts, data } = parseAllocateWithSeedInstruction(allocate);
	if (paid.accounts.source.address !== feePayer || paid.data.amount !== tokenAccountRentLamports)
		refuse("malformed", "a marker's rent is not paid by the fee payer");
	return {
		do: "make-marker",
		marker: accounts.newAccount.address,
		base: data.base,
		seed: data.seed,
		owner: parseInitializeAccount3Instruction(initialize).data.owner,
	};
}

async function writeMessage(
	{ feePayer, unitLimit, microLamportsPerUnit, steps }: SolanaMessage,
	blockhash: Blockhash,
): Promise<ReadonlyUint8Array> {
	const instructions: Instruction[] = [
		getSetComputeUnitLimitInstruction({ units: unitLimit }),
		getSetComputeUnitPriceInstruction({ microLamports: microLamportsPerUnit }),
	];
	for (const step of steps) instructions.push(...(await writeStep(step, feePayer)));
	const message = pipe(
		createTransactionMessage({ version: 0 }),
		(empty) => setTransactionMessageFeePayer(feePayer, empty),
		(paid) => setTransactionMessageLifetimeUsingBlockhash({ blockhash, lastValidBlockHeight: 0n }, paid),
		(living) => appendTransactionMessageInstructions(instructions, living),
	);
	return compileTransaction(message).messageBytes;
}

async function writeStep(step: SolanaStep, feePayer: SolanaAddress): Promise<Instruction[]> {
	const payer = createNoopSigner(feePayer);
	switch (step.do) {
		case "pay-lamports":
			return [
				getTransferSolInstruction({
					source: createNoopSigner(step.from),
					destination: step.to,
					amount: step.amount,
				}),
			];
		case "pay-tokens":
			return [
				getTransferCheckedInstruction({
					// Only an owner's associated account is paid from.
					source: await tokenAccountOf({ owner: step.from, token: step.mint }),
					mint: step.mint,
					destination: step.to,
					authority: createNoopSigner(step.from),
					amount: step.amount,
					decimals: step.decimals,
				}),
			];
		case "make-account":
			return [
				getCreateAssociatedTokenIdempotentInstruction({
					payer,
					ata: await tokenAccountOf({ owner: step.owner, token: step.mint }),
					owner: step.owner,
					mint: step.mint,
				}),
			];
		case "make-marker": {
			const marker = await createAddressWithSeed({
				baseAddress: step.base,
				programAddress: TOKEN_PROGRAM_ADDRESS,
				seed: step.seed,
			});
			return [
				getTransferSolInstruction({ source: payer, destination: marker, amount: tokenAccountRentLamports }),
				getAllocateWithSeedInstruction({
					newAccount: marker,
					baseAccount: createNoopSigner(step.base),
					base: step.base,
					seed: step.seed,
					space: tokenAccountSize,
					programAddress: TOKEN_PROGRAM_ADDRESS,
				}),
				getInitializeAccount3Instruction({ account: marker, mint: nativeMint, owner: step.owner }),
			];
		}
		case "close":
			return [
				getCloseAccountInstruction({
					account: step.account,
					destination: feePayer,
					owner: createNoopSigner(step.owner),
				}),
			];
		case "memo":
			return [getAddMemoInstruction({ memo: step.text }, { programAddress: memoProgramAddress })];
	}
}
