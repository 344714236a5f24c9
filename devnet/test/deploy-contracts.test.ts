import { setTimeout as sleep } from "node:timers/promises";
import {
	DeployError,
	deployContracts,
	parseDeployConfig,
	planContracts,
	type StepReport,
} from "@geoswap/contracts";
import { type ChainDeployment, geoVaultAbi, withChainDeployment } from "@geoswap/protocol";
import { type Address, type Hex, parseAbi, parseEther, toFunctionSelector, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { beforeEach, describe, expect, test } from "vitest";
import {
	chain,
	chains,
	config,
	deployer,
	newAddress,
	onChainsOfItsOwn,
	options,
	plan,
	roles,
} from "./deploy-test.ts";

onChainsOfItsOwn();

const accessManagerAbi = parseAbi([
	"function hasRole(uint64 roleId, address account) view returns (bool isMember, uint32 executionDelay)",
	"function canCall(address caller, address target, bytes4 selector) view returns (bool immediate, uint32 delay)",
]);

test("a deployment gives each role its functions and members, and leaves the deployer no function", async () => {
	const { contracts } = await deployContracts(options());
	const { accessManager, vault } = contracts;
	const mayCall = async (caller: Address, name: string) => {
		const item = geoVaultAbi.find((entry) => entry.type === "function" && entry.name === name);
		if (item?.type !== "function") throw new Error(`the vault has no function ${name}`);
		const [isAllowed] = await chain.publicClient.readContract({
			address: accessManager,
			abi: accessManagerAbi,
			functionName: "canCall",
			args: [caller, vault, toFunctionSelector(item)],
		});
		return isAllowed;
	};
	const allowed = async (caller: Address | undefined) => {
		const names = [
			...["fill", "fillMany", "void", "voidMany", "pause", "unpause"],
			...["withdraw", "claimCredit", "trade", "send", "bridge", "setCap", "setFeed"],
		];
		const answers = await Promise.all(names.map((name) => mayCall(caller as Address, name)));
		return names.filter((_, i) => answers[i]);
	};
	expect(await allowed(roles.operators[0])).toEqual(["fill", "fillMany", "void", "voidMany"]);
	expect(await allowed(roles.operators[1])).toEqual(["fill", "fillMany", "void", "voidMany"]);
	expect(await allowed(roles.guardians[0])).toEqual(["pause"]);
	expect(await allowed(roles.treasurers[0])).toEqual(["trade", "send", "bridge"]);
	expect(await allowed(roles.resumers[0])).toEqual(["unpause"]);
	// These roles wait for the delay of their role, and the admin has no function at all.
	expect(await allowed(roles.treasuries[0])).toEqual([]);
	expect(await allowed(roles.configurers[0])).toEqual([]);
	expect(await allowed(roles.admin)).toEqual([]);
	for (const [roleId, member, delay] of [
		[3n, roles.treasuries[0], 86_400],
		[5n, roles.configurers[0], 172_800],
		[0n, roles.admin, 172_800],
	] as const) {
		const membership = await chain.publicClient.readContract({
			address: accessManager,
			abi: accessManagerAbi,
			functionName: "hasRole",
			args: [roleId, member ?? zeroAddress],
		});
		expect(membership).toEqual([true, delay]);
	}
	expect(await allowed(deployer.address)).toEqual([]);
	for (const [i, { address }] of chain.deployment.assets.entries()) {
		const [cap] = await chain.publicClient.readContract({
			address: vault,
			abi: geoVaultAbi,
			functionName: "capOf",
			args: [0, address, zeroAddress],
		});
		expect(cap).toBe(1_000_000n * BigInt(i + 1));
	}
});

test("a dry run sends nothing and reports the steps that a run would do", async () => {
	const blockBefore = await chain.publicClient.getBlockNumber();
	const reports = await plan();
	expect(await chain.publicClient.getBlockNumber()).toBe(blockBefore);
	expect(
		await chain.publicClient.getTransactionCount({ address: deployer.address, blockTag: "pending" }),
	).toBe(0);
	expect(reports.every(({ outcome }) => outcome === "would do")).toBe(true);
	const created = reports.flatMap(({ step }) => step.creates ?? []);
	expect(created).toHaveLength(5);
});

/** By default, a run is stopped after each fourth step, because a complete test takes minutes. */
const stride = process.env.GEOSWAP_FULL === "1" ? 1 : 4;

test("a run stopped after any step and run again gives the same result", async () => {
	const steps = (await plan()).length;
	const whole = await chain.testClient.snapshot();
	const expected = await deployContracts(options());
	const transactions = await chain.publicClient.getTransactionCount({ address: deployer.address });
	await chain.testClient.revert({ id: whole });

	for (let stopAfter = 1; stopAfter <= steps; stopAfter += stride) {
		const before = await chain.testClient.snapshot();
		let seen = 0;
		const stopped = deployContracts(
			options(() => {
				if (++seen === stopAfter) throw new Error("stopped");
			}),
		);
		await expect(stopped).rejects.toThrow("stopped");
		expect(await deployContracts(options())).toEqual(expected);
		expect((await plan()).every(({ outcome }) => outcome === "already done")).toBe(true);
		const nonce = await chain.publicClient.getTransactionCount({ address: deployer.address });
		expect(nonce, "no step was sent twice").toBe(transactions);
		await chain.testClient.revert({ id: before });
	}
}, 300_000);

test("a run after the hand-over sends nothing, and if something is missing, its error names the call that an owner must schedule", async () => {
	await deployContracts(options());
	const nonce = await chain.publicClient.getTransactionCount({ address: deployer.address });
	await deployContracts(options());
	expect((await plan()).every(({ outcome }) => outcome === "already done")).toBe(true);

	const changed = parseDeployConfig({ ...config, roles: { ...roles, operators: [newAddress()] } });
	const error = await deployContracts({ ...options(), config: changed }).catch((error) => error);
	expect(error).toBeInstanceOf(DeployError);
	expect(error.next).toMatch(/^have a member of (ADMIN|CONFIG) schedule this/);
	expect(await chain.publicClient.getTransactionCount({ address: deployer.address })).toBe(nonce);
});

test("delegates and escrow have the same address on both chains; vault and settlement token do not", async () => {
	const [one, two] = chains.deployment.chains as [ChainDeployment, ChainDeployment];
	expect(one.contracts.delegate).toBe(two.contracts.delegate);
	expect(one.contracts.typedDelegate).toBe(two.contracts.typedDelegate);
	expect(one.contracts.escrow).toBe(two.contracts.escrow);
	expect(one.contracts.vault).not.toBe(two.contracts.vault);
	expect(one.settlementToken).not.toBe(two.settlementToken);
});

test("a run fails if the chain drops a step, and the next run does that step", async () => {
	const steps = (await plan()).length;
	let beforeLast: Hex | undefined;
	let seen = 0;
	const onStep = async () => {
		seen++;
		if (seen === steps - 1) beforeLast = await chain.testClient.snapshot();
		if (seen !== steps || !beforeLast) return;
		await chain.testClient.revert({ id: beforeLast });
		await chain.testClient.mine({ blocks: 3 });
	};
	const confirmed = parseDeployConfig({ ...config, confirmations: 3 });
	const error = await deployContracts({ ...options(), config: confirmed, onStep }).catch((error) => error);
	expect(error).toBeInstanceOf(DeployError);
	expect(error.message).toMatch(/the chain dropped .* ADMIN is renounced/);
	await deployContracts(options());
	expect((await plan()).every(({ outcome }) => outcome === "already done")).toBe(true);
});

test("a run does not finish before its last transaction has its confirmations", async () => {
	const confirmed = parseDeployConfig({ ...config, confirmations: 3 });
	let isFinished = false;
	let tellLast = () => {};
	const last = new Promise<void>((resolve) => {
		tellLast = resolve;
	});
	const onStep = ({ step }: StepReport) => {
		if (step.name.startsWith("ADMIN is renounced")) tellLast();
	};
	const finished = deployContracts({ ...options(), config: confirmed, onStep }).then(() => {
		isFinished = true;
	});
	await last;
	await chain.testClient.mine({ blocks: 1 });
	// This is long enough to request the block many times.
	await sleep(100);
	expect(isFinished).toBe(false);
	await chain.testClient.mine({ blocks: 1 });
	await finished;
});

describe("a deployer other than that of the recorded entry", () => {
	const other = privateKeyToAccount(generatePrivateKey());
	beforeEach(() => chain.testClient.setBalance({ address: other.address, value: parseEther("100") }));

	test("is refused before anything is sent, also in a dry run", async () => {
		const earlier = await deployContracts(options());
		const { vault, accessManager } = earlier.contracts;
		const again = { ...options(), account: other, earlier };
		for (const run of [deployContracts, planContracts]) {
			const error = await run(again).catch((error) => error);
			expect(error).toBeInstanceOf(DeployError);
			expect(error.message).toContain(`vault (${vault} → 0x`);
			expect(error.message).toContain(`accessManager (${accessManager} → 0x`);
			expect(error.message).not.toContain("escrow");
			expect(error.next).toContain("--replace");
		}
		expect(await chain.publicClient.getTransactionCount({ address: other.address })).toBe(0);
	});

	test("may replace the entry if the option is set, and the entry keeps the old vault and its first block", async () => {
		const earlier = await deployContracts(options());
		const later = await deployContracts({ ...options(), account: other, earlier, replace: true });
		expect(later.contracts.vault).not.toBe(earlier.contracts.vault);
		expect(later.deployedAtBlock).toBeGreaterThan(earlier.deployedAtBlock);
		const [entry] = withChainDeployment({ chains: [earlier] }, later).chains;
		expect(entry?.contracts.vault).toBe(later.contracts.vault);
		expect(entry?.contracts.earlierVaults).toEqual([earlier.contracts.vault]);
		expect(entry?.contracts.earlierEscrows).toEqual([]);
		expect(entry?.deployedAtBlock).toBe(earlier.deployedAtBlock);
	});

	test("is refused even with the option to replace if the entry has another escrow", async () => {
		const { contracts, ...rest } = await deployContracts(options());
		const earlier = { ...rest, contracts: { ...contracts, escrow: newAddress() } };
		await expect(deployContracts({ ...options(), earlier })).rejects.toThrow(
			`escrow (${earlier.contracts.escrow} → ${contracts.escrow})`,
		);
	});
});
