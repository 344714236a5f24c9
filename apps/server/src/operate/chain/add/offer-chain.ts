import { checkedConfig, readConfigFile, readDeployment } from "../config-file.ts";
import { type Adding, type Outcome, writeConfig } from "./adding.ts";

/** Offers the chain to all accounts. */
export function offerChain(adding: Adding): Outcome {
	const { chainId } = adding.preset;
	const { configPath, isDryRun } = adding.options;
	const { file, deploymentPath } = readConfigFile(configPath);
	const terms = file.chains[chainId];
	if (isDryRun || !terms) return { state: "would do", lines: ["offer the chain to all accounts"] };
	if (!terms.onlyAccounts) return { state: "done already", lines: ["the chain is offered to all accounts"] };
	const { onlyAccounts: _, ...others } = terms;
	const changed = { ...file, chains: { ...file.chains, [chainId]: others } };
	checkedConfig(configPath, changed, readDeployment(deploymentPath));
	writeConfig(adding, changed);
	return {
		state: "done",
		lines: ["offered to all accounts, once each API has been restarted"],
	};
}
