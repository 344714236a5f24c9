import { devnetKeys, readArtifact, vaultRoles } from "@geoswap/contracts";
import { geoVaultAbi, toWord } from "@geoswap/protocol";
import { type Address, encodeDeployData, encodeFunctionData, type Hex, parseAbi } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { deployCode } from "../deploy-code.ts";
import { deriveDevnetKeys } from "../devnet-keys.ts";
import { sendAs } from "../send-as.ts";
import type { TestChain } from "../start-test-chains.ts";

/** The models of Circle's contracts on one chain, and the vault's routes to the other chains. */
export type DevCctp = {
	chain: TestChain;
	/** The chain, as Circle would number it. */
	domain: number;
	tokenMessenger: Address;
	messageTransmitter: Address;
	/** The CctpRoute to each other chain, by chain id. */
	routes: Map<number, Address>;
};

const managerAbi = parseAbi(["function grantRole(uint64 roleId, address account, uint32 executionDelay)"]);
const messengerAbi = parseAbi([
	"function link(uint32 domain, bytes32 messenger, bytes32 remoteToken, address localToken)",
]);

/** The kind of a cap on bridges, as the vault numbers the kinds. */
const bridgeCap = 3;

/** Development keys of the model's attesters, in ascending order of their addresses. Everyone can derive them. */
export function cctpAttesterKeys(): Hex[] {
	return devnetKeys([100, 101]).sort((a, b) =>
		BigInt(privateKeyToAddress(a)) < BigInt(privateKeyToAddress(b)) ? -1 : 1,
	);
}

/**
 * Deploys models of Circle's contracts to chains that are set up, links them, and deploys a route from each vault to each
 * other one with a cap on it. Lets the treasurer bridge.
 */
export async function addCctp(
	chains: readonly TestChain[],
	{ treasurer, capPerHour, maxFeeBps = 14 }: { treasurer: Address; capPerHour: bigint; maxFeeBps?: number },
): Promise<DevCctp[]> {
	const { actors, ...keys } = deriveDevnetKeys();
	const deployer = privateKeyToAddress(keys.deployer);
	const attesters = cctpAttesterKeys().map((key) => privateKeyToAddress(key));
	const added: DevCctp[] = [];
	for (const [domain, chain] of chains.entries()) {
		const transmitter = { ...readArtifact("DevTransmitter"), args: [domain, attesters] };
		const messageTransmitter = await deployCode(chain, actors.market, encodeDeployData(transmitter));
		const messenger = { ...readArtifact("DevMessenger"), args: [messageTransmitter, actors.market] };
		const tokenMessenger = await deployCode(chain, actors.market, encodeDeployData(messenger));
		added.push({ chain, domain, tokenMessenger, messageTransmitter, routes: new Map() });
	}
	for (const from of added) {
		const { deployment } = from.chain;
		const { accessManager, vault } = deployment.contracts;
		await sendAs(from.chain, deployer, {
			to: accessManager,
			data: encodeFunctionData({
				abi: managerAbi,
				functionName: "grantRole",
				args: [vaultRoles.treasurer.id, treasurer, 0],
			}),
		});
		for (const to of added.filter((other) => other !== from)) {
			await sendAs(from.chain, actors.market, {
				to: from.tokenMessenger,
				data: encodeFunctionData({
					abi: messengerAbi,
					functionName: "link",
					args: [
						to.domain,
						toWord(to.tokenMessenger),
						toWord(to.chain.deployment.settlementToken),
						deployment.settlementToken,
					],
				}),
			});
			const route = await deployCode(
				from.chain,
				actors.market,
				encodeDeployData({
					...readArtifact("CctpRoute"),
					args: [
						vault,
						from.tokenMessenger,
						deployment.settlementToken,
						to.domain,
						toWord(to.chain.deployment.contracts.vault),
						maxFeeBps,
					],
				}),
			);
			await sendAs(from.chain, deployer, {
				to: vault,
				data: encodeFunctionData({
					abi: geoVaultAbi,
					functionName: "setCap",
					args: [bridgeCap, deployment.settlementToken, route, capPerHour],
				}),
			});
			from.routes.set(to.chain.chainId, route);
		}
	}
	return added;
}
