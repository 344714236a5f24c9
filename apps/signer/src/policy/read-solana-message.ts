import {
	compileOrderMessage,
	type Decision,
	decodeDecide,
	decodeFill,
	decodePrepare,
	decodeVoid,
	endingInstructions,
	fillInstructions,
	fromSolanaWord,
	fundOrder,
	instructionNumbers,
	type Order,
	openOrder,
	type ProgramInstruction,
	payOrder,
	prepareOrder,
	type SolanaAddress,
	type SolanaDeployment,
	voidInstructions,
} from "@geoswap/protocol";
import {
	AccountRole,
	bytesEqual,
	type CompiledTransactionMessage,
	createNoopSigner,
	getCompiledTransactionMessageDecoder,
	type Instruction,
} from "@solana/kit";
import {
	parseSetComputeUnitLimitInstruction,
	parseSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";

import { Refusal, refuse } from "./refusal.ts";

/** The program calls of one of the lanes' transactions. */
export type ProgramCall =
	| { kind: "open"; order: Order }
	| { kind: "fill"; order: Order; amount: bigint; createsAccount: boolean }
	| { kind: "void"; order: Order }
	| { kind: "release" | "refund"; order: Order; decision: Decision; createsAccount: boolean }
	| { kind: "close"; accounts: SweptAccount[] };

/**
 * An account of an order or a record, and the account that gets its rent; or an order's account and the owner of its
 * input, who gets the SOL that arrived after the payment.
 */
type SweptAccount = { account: SolanaAddress; to: SolanaAddress; does: "pay" | "close" | "closeRecord" };

export type SolanaMessage = {
	feePayer: SolanaAddress;
	/** All keys that must sign, the fee payer first. */
	signers: SolanaAddress[];
	unitLimit: number;
	microLamportsPerUnit: bigint;
	call: ProgramCall;
};

type Sources = {
	deployment: SolanaDeployment;
	/** The order that the caller names. Only a release and a refund need it, as their message has only its address. */
	order: Order | undefined;
};

/**
 * Reads a message. Refuses it unless its bytes are those that the service's lanes make of the result. Nothing in it is
 * then left unread, such as an account, a flag, an instruction or a lookup table.
 */
export async function readSolanaMessage(bytes: Uint8Array, sources: Sources): Promise<SolanaMessage> {
	try {
		const compiled = getCompiledTransactionMessageDecoder().decode(bytes);
		if (compiled.version !== 0) return refuse("malformed", "the message is not of version 0");
		const { staticAccounts, header, lifetimeToken: blockhash } = compiled as Compiled;
		const [feePayer] = staticAccounts;
		const [limit, price, ...calls] = instructionsIn(compiled);
		if (!limit || !price || !feePayer) return refuse("malformed", "the message does nothing");
		const { units: unitLimit } = parseSetComputeUnitLimitInstruction(limit).data;
		const { microLamports: microLamportsPerUnit } = parseSetComputeUnitPriceInstruction(price).data;
		const call = await readCall(calls, sources);
		const { message: again } = compileOrderMessage(
			{ feePayer, blockhash, compute: { unitLimit, microLamportsPerUnit } },
			await instructionsOf(call, { ...sources, feePayer }),
		);
		if (!bytesEqual(again, bytes)) refuse("malformed", "the message has bytes that no lane writes");
		const signers = staticAccounts.slice(0, header.numSignerAccounts);
		return { feePayer, signers, unitLimit, microLamportsPerUnit, call };
	} catch (error) {
		if (error instanceof Refusal) throw error;
		return refuse("malformed", `no lane makes the message: ${(error as Error).message.split("\n")[0]}`);
	}
}

type Compiled = Extract<CompiledTransactionMessage, { version: 0 }> & { lifetimeToken: string };
type Read = ProgramInstruction & { programAddress: SolanaAddress };

function instructionsIn({ staticAccounts, instructions }: Pick<Compiled, "staticAccounts" | "instructions">) {
	const at = (index: number): SolanaAddress =>
		staticAccounts[index] ?? refuse("malformed", "an account of the message is in a lookup table");
	return instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
		programAddress: at(programAddressIndex),
		addresses: accountIndices.map(at),
		data: new Uint8Array(data),
	}));
}

/** Reads what the instructions do, as far as the first one of the program shows. The comparison finds the rest. */
async function readCall(instructions: readonly Read[], { deployment, order }: Sources): Promise<ProgramCall> {
	const { address } = deployment.program;
	const own = instructions.filter(({ programAddress }) => programAddress === address);
	const createsAccount = instructions.some(
		({ programAddress }) => programAddress === ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
	);
	const [first] = own;
	if (!first) return refuse("not-ours", "the message does not call our program");
	const isSweep = own.some(
		({ data }) => data[0] === instructionNumbers.close || data[0] === instructionNumbers.closeRecord,
	);
	if (isSweep) return { kind: "close", accounts: own.map(readSwept) };
	switch (first.data[0]) {
		case instructionNumbers.prepare:
			return { kind: "open", order: decodePrepare(first, address) };
		case instructionNumbers.fill:
			return { kind: "fill", ...(await decodeFill(first, deployment)), createsAccount };
		case instructionNumbers.void:
			return { kind: "void", order: decodeVoid(first) };
		default: {
			if (!order) return refuse("malformed", "the caller does not name the order that the message ends");
			const toVault = (await payOrder(address, order, { to: "vault" })).accounts?.[1]?.address;
			const kind = own.at(-1)?.addresses[1] === toVault ? "release" : "refund";
			return { kind, order, decision: readDecision(first), createsAccount };
		}
	}
}

function readSwept({ addresses: [account, to], data }: ProgramInstruction): SweptAccount {
	if (!account || !to) return refuse("malformed", "an account is closed for nobody");
	const does = (["pay", "close", "closeRecord"] as const).find(
		(name) => data[0] === instructionNumbers[name],
	);
	return does ? { account, to, does } : refuse("malformed", "accounts are closed by other transactions");
}

function readDecision(first: ProgramInstruction): Decision {
	switch (first.data[0]) {
		case instructionNumbers.decide:
			return { by: "attesters", ...decodeDecide(first) };
		case instructionNumbers.expire:
			return { by: first.addresses.length === 1 ? "time" : "operator" };
		case instructionNumbers.pay:
			return { by: "earlier" };
		default:
			return refuse("malformed", `no lane sends the instruction ${first.data[0]} of the program`);
	}
}

/** Returns the instructions that a lane makes for a call. Throws if the order is not the service's. */
async function instructionsOf(
	call: ProgramCall,
	{ deployment, feePayer: payer }: { deployment: SolanaDeployment; feePayer: SolanaAddress },
): Promise<Instruction[]> {
	const { address, operator } = deployment.program;
	const keys = { deployment, feePayer: createNoopSigner(payer), operator: createNoopSigner(operator) };
	switch (call.kind) {
		case "open": {
			const { order } = call;
			const mint = fromSolanaWord(order.inputToken);
			const decimals = deployment.assets.find((asset) => asset.address === mint)?.decimals;
			if (decimals === undefined) return refuse("not-ours", `${mint} is not an asset of ours`);
			const wallet = createNoopSigner(fromSolanaWord(order.wallet));
			return [
				await prepareOrder(address, order, keys.feePayer),
				await fundOrder(address, order, { wallet, decimals }),
				await openOrder(address, order),
			];
		}
		case "fill":
			return fillInstructions({ ...keys, ...call });
		case "void":
			return voidInstructions({ ...keys, ...call });
		case "release":
		case "refund":
			return endingInstructions({ ...keys, ...call, to: call.kind === "release" ? "vault" : "wallet" });
		case "close":
			// No message has the ids of the orders, so the addresses of their accounts cannot be computed again.
			return call.accounts.map(({ account, to, does }) => ({
				programAddress: address,
				accounts: [account, to].map((one) => ({ address: one, role: AccountRole.WRITABLE })),
				data: Uint8Array.of(instructionNumbers[does]),
			}));
	}
}
