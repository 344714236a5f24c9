import { getAddress, numberToHex, toHex } from "viem";
import { expect, test } from "vitest";
import { attesterSetHash } from "../attester-set.ts";
import { solanaChainId } from "../solana-chain-id.ts";
import { fromSolanaWord, type SolanaAddress, solanaNativeToken } from "./solana-address.ts";
import { plannedSolanaSchema, type SolanaDeployment, solanaDeploymentSchema } from "./solana-deployment.ts";

const key = (n: number): SolanaAddress => fromSolanaWord(toHex(BigInt(n), { size: 32 }));
const feed = {
	chainId: 1,
	address: getAddress(numberToHex(0xfeed, { size: 20 })),
	heartbeatSeconds: 60,
	deviationBps: 5,
};
const attesterSet = { threshold: 1, attesters: [getAddress(numberToHex(0x51, { size: 20 }))] };

function deployment(): SolanaDeployment {
	return {
		chainId: solanaChainId,
		name: "Solana",
		genesisHash: key(1),
		feePayers: [key(2), key(3)],
		program: {
			address: key(4),
			vault: key(5),
			operator: key(6),
			upgradeAuthority: key(7),
			deployedAtSlot: 1,
			code: { bytes: 1, sha256: toHex(1n, { size: 32 }) },
			attesterSet: { ...attesterSet, hash: attesterSetHash(attesterSet) },
		},
		settlementToken: key(8),
		assets: [
			{ symbol: "USDC", address: key(8), decimals: 6, kind: "stable", feed },
			{ symbol: "SOL", address: solanaNativeToken, decimals: 9, kind: "volatile", feed },
		],
	};
}

function problemsOf(changes: Partial<SolanaDeployment>): string[] {
	const { error } = solanaDeploymentSchema.safeParse({ ...deployment(), ...changes });
	return error?.issues.map(({ message }) => message) ?? [];
}

test("a deployment with a program is accepted unchanged, and one without a program or with keys in its place is refused", () => {
	expect(solanaDeploymentSchema.parse(deployment())).toEqual(deployment());
	const { program, ...rest } = deployment();
	expect(solanaDeploymentSchema.safeParse(rest).success).toBe(false);
	const withKeys = { ...deployment(), escrow: key(9), vault: key(10) };
	expect(solanaDeploymentSchema.safeParse(withKeys).success).toBe(false);
	expect(solanaDeploymentSchema.safeParse({ ...rest, escrow: program.address }).success).toBe(false);
});

test("fee payers, operator, program and vault have different addresses", () => {
	const { feePayers, program } = deployment();
	const [feePayer] = feePayers as [SolanaAddress];
	const { address, vault, operator } = program;
	const same: Partial<SolanaDeployment>[] = [
		{ feePayers: [feePayer, feePayer] },
		...[address, vault, operator].map((used) => ({ feePayers: [feePayer, used] })),
		...[address, vault].map((used) => ({ program: { ...program, operator: used } })),
		{ program: { ...program, vault: address } },
	];
	for (const changes of same) {
		expect(problemsOf(changes)).toEqual([
			"fee payers, operator, program and vault must all have different addresses",
		]);
	}
});

test("the assets are listed once each, with SOL and a stable settlement token", () => {
	const [usdc, sol] = deployment().assets as [
		SolanaDeployment["assets"][number],
		SolanaDeployment["assets"][number],
	];
	expect(problemsOf({ assets: [{ ...usdc, kind: "volatile" }, sol] })).toEqual([
		expect.stringContaining("the settlement token must be"),
	]);
	expect(problemsOf({ settlementToken: key(9) })).toEqual([expect.stringContaining("the settlement token")]);
	for (const assets of [[usdc], [usdc, { ...sol, decimals: 8 }]]) {
		expect(problemsOf({ assets })).toEqual([expect.stringContaining("the native token must be")]);
	}
	expect(problemsOf({ assets: [usdc, sol, { ...usdc, symbol: "USDT" }] })).toEqual([
		"two assets have the same address",
	]);
	expect(problemsOf({ assets: [usdc, sol, { ...usdc, address: key(9) }] })).toEqual([
		"two assets have the same symbol",
	]);
});

test("an attester set whose hash does not match its attesters is refused", () => {
	const { program } = deployment();
	const hash = toHex(1n, { size: 32 });
	expect(problemsOf({ program: { ...program, attesterSet: { ...program.attesterSet, hash } } })).toHaveLength(
		1,
	);
});

test("before the program is deployed, an entry need not name it", () => {
	const { program: _, ...planned } = deployment();
	expect(plannedSolanaSchema.parse(planned)).toEqual(planned);
	expect(plannedSolanaSchema.parse(deployment())).toEqual(deployment());
	expect(plannedSolanaSchema.safeParse({ ...planned, escrow: key(9) }).success).toBe(false);
});
