import { type Address, type Client, erc20Abi, isAddressEqual, parseAbi, zeroAddress } from "viem";
import { entryPoint09Address } from "viem/account-abstraction";
import { getChainId, getCode, readContract } from "viem/actions";
import type { DeployConfig } from "./deploy-config.ts";
import { DeployError } from "./deploy-error.ts";
import { deterministicDeployer } from "./deterministic-deployment.ts";
import { developmentAddressesAmong, developmentChainIds } from "./development-keys.ts";

const uniswapPeripheryAbi = parseAbi([
	"function factory() view returns (address)",
	"function WETH9() view returns (address)",
]);

/**
 * Everything that must be so before the first transaction. The vault's router and tokens can never be changed, so
 * they are asked who they are first.
 */
export async function checkPrerequisites({
	client,
	deployer,
	config,
}: {
	client: Client;
	deployer: Address;
	config: DeployConfig;
}): Promise<void> {
	refuseDevelopmentKeys({ deployer, config });

	const chainId = await getChainId(client).catch((cause) => {
		throw new DeployError("the node does not answer", {
			next: "see that RPC_URL is right and reachable",
			cause,
		});
	});
	if (chainId !== config.chainId) {
		throw new DeployError(`the node is on chain ${chainId}, the config is for chain ${config.chainId}`, {
			next: "point RPC_URL at a node of the config's chain, or use that chain's config",
		});
	}

	await Promise.all([
		expectCode(
			"the deterministic deployer",
			deterministicDeployer,
			"put it there with its presigned transaction (github.com/Arachnid/deterministic-deployment-proxy)",
		),
		expectCode(
			"EntryPoint v0.9",
			entryPoint09Address,
			"deploy it from eth-infinitism/account-abstraction v0.9 with its published salt; the address is the same on every chain",
		),
		expectCode("Uniswap's factory", config.uniswap.factory),
		expectCode("wrappedNative", config.wrappedNative),
		...(config.permit2 ? [expectCode("Permit2", config.permit2)] : []),
		expectPeriphery("Uniswap's router", config.uniswap.router),
		expectPeriphery("Uniswap's QuoterV2", config.uniswap.quoterV2),
		...config.assets.flatMap(({ symbol, address, decimals, feed }) => [
			...(address === zeroAddress ? [] : [expectDecimals(symbol, address, decimals)]),
			expectCode(`the feed of ${symbol}`, feed.address),
		]),
		...(config.feeDiscountToken
			? [
					expectDecimals(
						config.feeDiscountToken.symbol,
						config.feeDiscountToken.address,
						config.feeDiscountToken.decimals,
					),
				]
			: []),
	]);

	async function expectCode(name: string, address: Address, next = "correct its address in the config") {
		if ((await getCode(client, { address })) === undefined) {
			throw new DeployError(`there is no contract at ${address}, where ${name} should be`, { next });
		}
	}

	async function expectPeriphery(name: string, address: Address) {
		await expectCode(name, address);
		const [factory, wrappedNative] = await Promise.all([
			readContract(client, { address, abi: uniswapPeripheryAbi, functionName: "factory" }),
			readContract(client, { address, abi: uniswapPeripheryAbi, functionName: "WETH9" }),
		]).catch((cause) => {
			throw new DeployError(`${address} does not answer as ${name}`, {
				next: "correct its address in the config",
				cause,
			});
		});
		if (!isAddressEqual(factory, config.uniswap.factory)) {
			throw new DeployError(`${name} at ${address} is of the factory ${factory}`, {
				next: `correct uniswap in the config, which names the factory ${config.uniswap.factory}`,
			});
		}
		if (!isAddressEqual(wrappedNative, config.wrappedNative)) {
			throw new DeployError(`${name} at ${address} wraps into ${wrappedNative}`, {
				next: `correct wrappedNative in the config, which is ${config.wrappedNative}`,
			});
		}
	}

	async function expectDecimals(symbol: string, address: Address, decimals: number) {
		await expectCode(symbol, address);
		const actual = await readContract(client, { address, abi: erc20Abi, functionName: "decimals" }).catch(
			(cause) => {
				throw new DeployError(`${address} does not answer as the token ${symbol}`, {
					next: "correct its address in the config",
					cause,
				});
			},
		);
		if (actual !== decimals) {
			throw new DeployError(`${symbol} has ${actual} decimals, the config says ${decimals}`, {
				next: "correct the asset's decimals or address in the config",
			});
		}
	}
}

function refuseDevelopmentKeys({ deployer, config }: { deployer: Address; config: DeployConfig }): void {
	if (developmentChainIds.includes(config.chainId)) return;
	const { admin, operators, guardians, treasuries } = config.roles;
	const known = developmentAddressesAmong([
		deployer,
		admin,
		...operators,
		...guardians,
		...treasuries,
		...config.attesterSet.attesters,
	]);
	if (known.length === 0) return;
	throw new DeployError(
		`chain ${config.chainId} is not a devnet, and everyone knows the private key of ${[...new Set(known)].join(", ")}`,
		{ next: "make keys of your own for the deployer, the roles and the attesters" },
	);
}
