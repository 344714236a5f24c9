import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ServiceProcess, serviceProcess } from "@geoswap/devnet";
import type { Environment } from "./environment.ts";
import { keepRefusals } from "./refusals.ts";

const publishedFile = join(import.meta.dirname, "../../deploy/haproxy.cfg");

/** Starts HAProxy with the published configuration, in front of API processes of this machine. */
export async function startBalancer(
	{ logDir, serverEnvironment }: Pick<Environment, "logDir" | "serverEnvironment">,
	options: BalancerOptions,
): Promise<ServiceProcess & { baseUrl: string }> {
	const configFile = join(dirname(serverEnvironment.GEOSWAP_CONFIG ?? ""), "haproxy.cfg");
	writeFileSync(configFile, onThisMachine(readFileSync(publishedFile, "utf8"), options));
	const baseUrl = `http://127.0.0.1:${options.port}`;
	keepRefusals({ baseUrl, logDir });
	const balancer = serviceProcess({
		name: "haproxy",
		command: "haproxy",
		args: ["-db", "-f", configFile],
		env: { PATH: `${process.env.PATH}:/usr/sbin` },
		logFile: join(logDir, "haproxy.log"),
		isReady: async () => (await fetch(`${baseUrl}/ready`)).ok,
	});
	await balancer.start();
	return Object.assign(balancer, { baseUrl });
}

type BalancerOptions = {
	port: number;
	apiPorts: readonly number[];
	/** Interval of the readiness checks, if different from the published one. */
	checkMs?: number | undefined;
};

/** Returns the published file with other ports, and with as many servers as there are ports. */
function onThisMachine(text: string, { port, apiPorts, checkMs }: BalancerOptions): string {
	const [first, ...others] = text.match(/^\s+server .*$/gm) ?? [];
	if (first === undefined) throw new Error(`${publishedFile} names no server`);
	const servers = apiPorts.map((apiPort, i) =>
		first.replace(/server\s+\S+\s+\S+/, `server api-${i + 1} 127.0.0.1:${apiPort}`),
	);
	return others
		.reduce((left, line) => left.replace(line, ""), text)
		.replace(first, servers.join("\n"))
		.replace(/^(\s+bind) .*$/m, `$1 127.0.0.1:${port}`)
		.replace(/(?<=check inter )\S+/, (published) => (checkMs === undefined ? published : `${checkMs}ms`));
}
