import { type Address, type Client, isAddressEqual, parseAbi, zeroHash } from "viem";
import { readContract } from "viem/actions";
import type { DeployConfig } from "./deploy-config.ts";
import { DeployError } from "./deploy-error.ts";
import { doesNotAnswer } from "./does-not-answer.ts";
import { expectCode } from "./expect-code.ts";

const transmitterAbi = parseAbi(["function localDomain() view returns (uint32)"]);
const messengerAbi = parseAbi([
	"function localMessageTransmitter() view returns (address)",
	"function remoteTokenMessengers(uint32 domain) view returns (bytes32)",
]);

/** Throws unless Circle's contracts belong together, are those of this chain, and know the destination of each route. */
export async function checkCctp(client: Client, { cctp }: Pick<DeployConfig, "cctp">): Promise<void> {
	if (!cctp) return;
	const { domain, tokenMessenger, messageTransmitter, routes } = cctp;
	const names = { transmitter: "Circle's MessageTransmitterV2", messenger: "Circle's TokenMessengerV2" };
	await Promise.all([
		expectCode(client, names.transmitter, messageTransmitter),
		expectCode(client, names.messenger, tokenMessenger),
	]);
	const actualDomain = await readContract(client, {
		address: messageTransmitter,
		abi: transmitterAbi,
		functionName: "localDomain",
	}).catch((cause) => {
		throw doesNotAnswer(names.transmitter, messageTransmitter, cause);
	});
	if (actualDomain !== domain) {
		throw new DeployError(`${names.transmitter} at ${messageTransmitter} has the domain ${actualDomain}`, {
			next: `correct cctp in the config, which names the domain ${domain}`,
		});
	}
	const actualTransmitter: Address = await readContract(client, {
		address: tokenMessenger,
		abi: messengerAbi,
		functionName: "localMessageTransmitter",
	}).catch((cause) => {
		throw doesNotAnswer(names.messenger, tokenMessenger, cause);
	});
	if (!isAddressEqual(actualTransmitter, messageTransmitter)) {
		throw new DeployError(
			`${names.messenger} at ${tokenMessenger} uses the transmitter ${actualTransmitter}`,
			{
				next: `correct cctp in the config, which names the transmitter ${messageTransmitter}`,
			},
		);
	}
	for (const [chainId, route] of Object.entries(routes)) {
		const remote = await readContract(client, {
			address: tokenMessenger,
			abi: messengerAbi,
			functionName: "remoteTokenMessengers",
			args: [route.domain],
		});
		if (remote !== zeroHash) continue;
		throw new DeployError(
			`${names.messenger} at ${tokenMessenger} does not know the domain ${route.domain}`,
			{
				next: `correct cctp.routes.${chainId} in the config, or remove it`,
			},
		);
	}
}
