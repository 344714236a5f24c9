import { devnetKeys, readArtifact } from "@geoswap/contracts";
import { type ChainDeployment, toWord } from "@geoswap/protocol";
import { type Address, encodeDeployData, encodeFunctionData, type Hex, parseAbi, parseUnits } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { deployCode } from "../deploy-code.ts";
import type { TestChain } from "../devnet-chain.ts";
import { deriveDevnetKeys } from "../devnet-keys.ts";
import { devnetToken, settlementSymbol } from "../devnet-tokens.ts";
import { sendAs } from "../send-as.ts";
import { setCap } from "../set-cap.ts";

/** The models of Circle's contracts on one chain, and the vault's routes to the other chains, by their ids. */
export type DevCctp = NonNullable<ChainDeployment["cctp"]> & { chain: TestChain };

const messengerAbi = parseAbi([
	"function link(uint32 domain, bytes32 messenger, bytes32 remoteToken, address localToken)",
]);

/** The maximum fee of a burn, in hundredths of a percent. */
const maxFeeBps = 14;
/** What each route lets through in an hour, in whole tokens. */
const bridgePerHour = "1000000";

/** Development keys of the model's attesters, in ascending order of their addresses. Everyone can derive them. */
export function cctpAttesterKeys(): Hex[] {
	return devnetKeys([100, 101]).sort((a, b) =>
		BigInt(privateKeyToAddress(a)) < BigInt(privateKeyToAddress(b)) ? -1 : 1,
	);
}

/** Returns the models of a chain. Throws if it was set up without them. */
export function cctpOf(chain: TestChain): DevCctp {
	const { cctp, name } = chain.deployment;
	if (!cctp) throw new Error(`${name} was set up without Circle's contracts`);
	return { ...cctp, chain };
}

/**
 * Deploys models of Circle's contracts to chains that are set up, links them, and deploys a route from each vault to each
 * other one with a cap on it. Returns the chains, whose deployments now have the contracts.
 */
export async function addCctp(chains: readonly TestChain[]): Promise<TestChain[]> {
	const models = await Promise.all(chains.map(deployModels));
	return Promise.all(
		models.map(async (from) => {
			const routes: Record<string, Address> = {};
			for (const to of models.filter((other) => other !== from)) {
				routes[to.chain.chainId] = await addRoute(from, to);
			}
			const { chain, ...contracts } = from;
			return { ...chain, deployment: { ...chain.deployment, cctp: { ...contracts, routes } } };
		}),
	);
}

type Models = Omit<DevCctp, "routes">;

async function deployModels(chain: TestChain, domain: number): Promise<Models> {
	const { market } = deriveDevnetKeys().actors;
	const attesters = cctpAttesterKeys().map((key) => privateKeyToAddress(key));
	const transmitter = { ...readArtifact("DevTransmitter"), args: [domain, attesters] };
	const messageTransmitter = await deployCode(chain, market, encodeDeployData(transmitter));
	const messenger = { ...readArtifact("DevMessenger"), args: [messageTransmitter, market] };
	const tokenMessenger = await deployCode(chain, market, encodeDeployData(messenger));
	return { chain, domain, tokenMessenger, messageTransmitter };
}

async function addRoute({ chain, tokenMessenger }: Models, to: Models): Promise<Address> {
	const { actors, deployer } = deriveDevnetKeys();
	const { settlementToken, contracts } = chain.deployment;
	const there = to.chain.deployment;
	await sendAs(chain, actors.market, {
		to: tokenMessenger,
		data: encodeFunctionData({
			abi: messengerAbi,
			functionName: "link",
			args: [to.domain, toWord(to.tokenMessenger), toWord(there.settlementToken), settlementToken],
		}),
	});
	const route = await deployCode(
		chain,
		actors.market,
		encodeDeployData({
			...readArtifact("CctpRoute"),
			args: [
				contracts.vault,
				tokenMessenger,
				settlementToken,
				to.domain,
				toWord(there.contracts.vault),
				maxFeeBps,
			],
		}),
	);
	const perHour = parseUnits(bridgePerHour, devnetToken(settlementSymbol).decimals);
	const cap = setCap(contracts.vault, { kind: "bridge", token: settlementToken, to: route, perHour });
	await sendAs(chain, privateKeyToAddress(deployer), cap);
	return route;
}
