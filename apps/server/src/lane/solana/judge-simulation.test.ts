import type { SolanaAddress } from "@geoswap/protocol";
import { expect, test } from "vitest";
import type { Job, JobKind } from "../../swap/facts/job.ts";
import { judgeSimulation, later } from "./judge-simulation.ts";

const job = (kind: JobKind, failures = 0) => ({ kind, failures, alone: false }) as Job;
const [feePayer, program, vault, recipient] = ["payer", "program", "vault", "recipient"].map(
	(name) => name as SolanaAddress,
) as [SolanaAddress, SolanaAddress, SolanaAddress, SolanaAddress];
const deployment = { feePayers: [feePayer], program: { address: program, vault } };
const poor = { isPayerPoor: true, deployment };
const rich = { isPayerPoor: false, deployment };
const failing = (reason: string, ...logs: string[]) => ({ ok: false as const, reason, logs });

test.each([
	"BlockhashNotFound",
	"AccountInUse",
	"AlreadyProcessed",
	"AccountNotFound",
	"InsufficientFundsForFee",
	"WouldExceedMaxBlockCostLimit",
])("a temporary failure costs a job no failure: %s", (reason) => {
	expect(judgeSimulation(job("fill", 2), failing(reason), rich)).toEqual(later);
	expect(judgeSimulation(job("open", 2), failing(reason), rich)).toEqual(later);
});

test("an order that was just decided is checked again later", () => {
	const told = failing("instruction 5: Custom 0", "Allocate: account Address { .. } already in use");
	expect(judgeSimulation(job("fill", 2), told, rich)).toEqual(later);
});

test("a payout that one of the service's accounts cannot make is refused for liquidity", () => {
	const frozen = failing("instruction 2: Custom 17", "Program log: Error: Account is frozen");
	// The frozen account is the vault's, because a recipient with a frozen account is refused before.
	expect(judgeSimulation(job("fill"), frozen, rich)).toEqual({ do: "refuse", reason: "liquidity" });
	const empty = failing("instruction 2: Custom 1", "Program log: Error: insufficient funds");
	expect(judgeSimulation(job("fill"), empty, rich)).toEqual({ do: "refuse", reason: "liquidity" });
});

test("a job gets no failure for a fee payer that has too little, and is left to another lane", () => {
	const told = failing("instruction 3: Custom 1", "Transfer: insufficient lamports 1, need 2039280");
	expect(judgeSimulation(job("fill"), told, poor)).toEqual({ do: "leave" });
	expect(judgeSimulation(job("release"), told, poor)).toEqual({ do: "leave" });
});

test("a job gets a failure only for the account that would be left with less than its rent", () => {
	const rent = (poorAccount: SolanaAddress) => ({ ...failing("InsufficientFundsForRent"), poorAccount });
	for (const payer of [poor, rich]) {
		for (const kind of ["open", "fill", "void", "release", "refund"] as const) {
			expect(judgeSimulation(job(kind, 2), rent(feePayer), payer)).toEqual({ do: "leave" });
			expect(judgeSimulation(job(kind, 2), rent(vault), payer)).toEqual(later);
		}
		const blamed = { do: "refuse", reason: "recipient" };
		expect(judgeSimulation(job("fill"), rent(recipient), payer)).toEqual(blamed);
		// A wallet is owed its refund even if that is too little for an account.
		expect(judgeSimulation(job("refund", 50), rent(recipient), payer)).toMatchObject({ do: "postpone" });
	}
});

test("a job that is refused repeatedly is given up, unless it is a void, release or refund", () => {
	const told = failing("instruction 2: InvalidAccountData");
	for (const kind of ["open", "fill"] as const) {
		expect(judgeSimulation(job(kind, 1), told, rich)).toMatchObject({ do: "postpone", failures: 1 });
		expect(judgeSimulation(job(kind, 2), told, rich)).toEqual({ do: "refuse", reason: "reverted" });
	}
	for (const kind of ["void", "release", "refund"] as const) {
		expect(judgeSimulation(job(kind, 50), told, rich)).toMatchObject({ do: "postpone", blocks: 160 });
	}
});

test("a refusal of the program is judged by its error number, and only if the program itself refused first", () => {
	const failed = (program: string, code: number) =>
		failing(
			"instruction 2: Custom",
			`Program ${program} failed: custom program error: 0x${code.toString(16)}`,
		);
	for (const code of [10, 11, 12, 20, 28, 29]) {
		expect(judgeSimulation(job("fill", 2), failed("program", code), rich)).toEqual(later);
	}
	const tooLate = { do: "refuse", reason: "too_late" };
	expect(judgeSimulation(job("fill"), failed("program", 21), rich)).toEqual(tooLate);
	expect(judgeSimulation(job("void", 2), failed("program", 21), rich)).toEqual(later);
	for (const code of [19, 23, 27]) {
		const liquidity = { do: "refuse", reason: "liquidity" };
		expect(judgeSimulation(job("fill"), failed("program", code), rich)).toEqual(liquidity);
		expect(judgeSimulation(job("void", 2), failed("program", code), rich)).toEqual(later);
	}
	expect(judgeSimulation(job("release"), failed("program", 99), rich)).toMatchObject({ failures: 1 });
	expect(judgeSimulation(job("fill", 1), failed("token", 19), rich)).toMatchObject({ failures: 1 });
	const inner = failed("token", 17).logs;
	const outer = { ...failed("program", 17), logs: [...inner, ...failed("program", 19).logs] };
	expect(judgeSimulation(job("fill", 1), outer, rich)).toMatchObject({ failures: 1 });
});
