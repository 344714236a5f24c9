import {
	accessManagerAbi,
	readAccessManagerArtifact,
	readArtifact,
	selectorsOf,
	vaultRoles,
} from "@geoswap/contracts";
import { readMulticall3, tokenInitCode } from "@geoswap/devnet/contract-code";
import { type ChainDeployment, geoAccountAbi, geoVaultAbi } from "@geoswap/protocol";
import { type Address, encodeDeployData, encodeFunctionData, type Hex, keccak256, zeroAddress } from "viem";
import { type BlockTerms, evmOf } from "./create-evm.ts";
import { lower } from "./lower.ts";
import { firstInventoryOf, tokenContractOf } from "./sim-evm-deployment.ts";
import { createStateOverlay, stateKey } from "./state-overlay.ts";
import type { Value } from "./versioned-state.ts";

export type VaultRoles = {
	admin: Address;
	operators: readonly Address[];
	guardians: readonly Address[];
	treasuries: readonly Address[];
};

type Changes = ReadonlyMap<string, Value>;

/** The address at which a stranger has deployed a token whose transfers move nothing. */
export const hollowToken: Address = "0x00000000000000000000000000000000000bad01";

/** The code of an account on the tokens' blocklist, which receives nothing. It reverts, and costs no more than that. */
export const blockedCode: Hex = "0x5f5ffd";

/**
 * Accounts of other providers, to which wallets may delegate. Each accepts the native token and never pays an escrow.
 */
export const otherDelegates: readonly { address: Address; code: Hex }[] = [
	// Returns from every call immediately.
	{ address: "0x00000000000000000000000000000000000bad02", code: "0x00" },
	// Uses up the gas of every call with data: CALLDATASIZE, PUSH1 5, JUMPI, STOP, JUMPDEST, PUSH1 5, JUMP.
	{ address: "0x00000000000000000000000000000000000bad03", code: "0x36600557005b600556" },
];

/** The kind of a cap on fills, as the vault numbers the kinds. */
const fillCap = 0;

const multicall3Address: Address = "0xca11bde05977b3631167028862be2a173976ca11";
const gasPerCall = 10_000_000n;

const placed = new Map<string, Promise<Changes>>();

/** Returns the state of a chain on which a deployment's contracts have been deployed and set up. */
export function placeContracts(options: {
	deployment: ChainDeployment;
	roles: VaultRoles;
	/** Unix seconds of the block in which this happens. */
	timestamp: number;
}): Promise<Changes> {
	// Consecutive worlds begin on the same chains.
	const name = JSON.stringify(options);
	let changes = placed.get(name);
	if (!changes) {
		changes = place(options);
		placed.set(name, changes);
	}
	return changes;
}

async function place({
	deployment,
	roles,
	timestamp,
}: {
	deployment: ChainDeployment;
	roles: VaultRoles;
	timestamp: number;
}): Promise<Changes> {
	const { chainId, contracts, assets, feeDiscountToken, uniswap, settlementToken, wrappedNative } =
		deployment;
	const { accessManager, vault, escrow } = contracts;
	const evm = await evmOf(chainId);
	const block: BlockTerms = { number: 0n, timestamp: BigInt(timestamp), baseFee: 0n };
	const state = createStateOverlay(() => undefined);
	const put = (address: Address, code: Hex) => {
		state.set(stateKey.nonce(lower(address)), 1n);
		state.set(stateKey.code(lower(address)), code);
	};
	const construct = async (at: Address, initCode: Hex, codeAt = at) => {
		state.set(stateKey.nonce(lower(at)), 1n);
		put(codeAt, await evm.construct({ address: lower(at), initCode }, block, state));
	};
	const ask = async (to: Address, data: Hex) => {
		const message = { from: lower(roles.admin), to: lower(to), value: 0n, data, gas: gasPerCall };
		const { isSuccess, data: answer } = await evm.run({ ...message, gasPrice: 0n, warm: [] }, block, state);
		if (!isSuccess) throw new Error(`${to} cannot be set up: ${answer}`);
	};

	await construct(multicall3Address, await readMulticall3());
	for (const { address, symbol, decimals } of [...assets, ...(feeDiscountToken ? [feeDiscountToken] : [])]) {
		if (address === zeroAddress) continue;
		const token: Address = `0x${keccak256(address).slice(-40)}`;
		const contract = tokenContractOf(symbol);
		await construct(address, tokenInitCode({ contract, name: symbol, symbol, decimals }), token);
		await construct(address, encodeDeployData({ ...readArtifact("DevBlocklist"), args: [token] }));
	}
	await construct(hollowToken, readArtifact("DevHollowToken").bytecode);
	await construct(escrow, readArtifact("GeoEscrow").bytecode);
	for (const [address, typedOnly] of [
		[contracts.delegate, false],
		[contracts.typedDelegate, true],
	] as const) {
		const { bytecode } = readArtifact("GeoAccount");
		await construct(address, encodeDeployData({ abi: geoAccountAbi, bytecode, args: [escrow, typedOnly] }));
	}
	for (const { address, code } of otherDelegates) put(address, code);
	const { bytecode: managerBytecode } = readAccessManagerArtifact();
	await construct(
		accessManager,
		encodeDeployData({ abi: accessManagerAbi, bytecode: managerBytecode, args: [roles.admin] }),
	);
	await construct(
		vault,
		encodeDeployData({
			abi: geoVaultAbi,
			bytecode: readArtifact("GeoVault").bytecode,
			args: [accessManager, escrow, uniswap.router, settlementToken, wrappedNative, zeroAddress],
		}),
	);
	for (const [{ id, functions }, members] of [
		[vaultRoles.operator, roles.operators],
		[vaultRoles.guardian, roles.guardians],
		[vaultRoles.treasury, roles.treasuries],
	] as const) {
		const rule = { abi: accessManagerAbi, functionName: "setTargetFunctionRole" } as const;
		await ask(accessManager, encodeFunctionData({ ...rule, args: [vault, selectorsOf(functions), id] }));
		for (const member of members) {
			const grant = { abi: accessManagerAbi, functionName: "grantRole" } as const;
			await ask(accessManager, encodeFunctionData({ ...grant, args: [id, member, 0] }));
		}
	}
	for (const { address, symbol } of assets) {
		const { outflowPerHour } = firstInventoryOf(symbol);
		const cap = { abi: geoVaultAbi, functionName: "setCap" } as const;
		await ask(vault, encodeFunctionData({ ...cap, args: [fillCap, address, zeroAddress, outflowPerHour] }));
	}
	return state.changes();
}
