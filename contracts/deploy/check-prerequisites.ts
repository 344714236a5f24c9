import type { Address, Client } from "viem";
import { getChainId } from "viem/actions";
import { checkCctp } from "./check-cctp.ts";
import { checkTokens } from "./check-tokens.ts";
import { checkPaths, checkUniswap } from "./check-uniswap.ts";
import type { DeployConfig } from "./deploy-config.ts";
import { DeployError } from "./deploy-error.ts";
import { deterministicDeployer } from "./deterministic-deployment.ts";
import { developmentAddressesAmong, developmentChainIds } from "./development-keys.ts";
import { expectCode } from "./expect-code.ts";
import { checkSequencerFeed, type FeedReading, readFeeds } from "./read-feeds.ts";

/**
 * Checks everything that must hold before the first transaction. The vault's router and tokens can never be changed, so
 * each must first identify itself. Returns the feeds' readings, because only the operator can check that each is of its
 * asset.
 */
export async function checkPrerequisites({
	client,
	deployer,
	config,
}: {
	client: Client;
	deployer: Address;
	config: DeployConfig;
}): Promise<FeedReading[]> {
	refuseDevelopmentKeys({ deployer, config });

	const chainId = await getChainId(client).catch((cause) => {
		throw new DeployError("the node does not answer", {
			next: "check that RPC_URL is right and reachable",
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
			client,
			"the deterministic deployer",
			deterministicDeployer,
			"put it there with its presigned transaction (github.com/Arachnid/deterministic-deployment-proxy)",
		),
		...(config.permit2 ? [expectCode(client, "Permit2", config.permit2)] : []),
		checkTokens(client, config),
		checkUniswap(client, config),
		checkSequencerFeed(client, config),
		checkCctp(client, config),
	]);
	// The paths are checked after the tokens, because an amount means nothing before the decimals are right.
	const [feeds] = await Promise.all([readFeeds(client, config), checkPaths(client, config)]);
	return feeds;
}

function refuseDevelopmentKeys({ deployer, config }: { deployer: Address; config: DeployConfig }): void {
	if (developmentChainIds.includes(config.chainId)) return;
	const known = developmentAddressesAmong([
		deployer,
		...Object.values(config.roles).flat(),
		...config.attesterSet.attesters,
	]);
	if (known.length === 0) return;
	throw new DeployError(
		`chain ${config.chainId} is not a devnet, and these addresses have public private keys: ${[...new Set(known)].join(", ")}`,
		{ next: "generate your own keys for the deployer, the roles and the attesters" },
	);
}
