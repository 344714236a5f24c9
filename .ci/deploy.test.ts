import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Deployment, StatefulSet } from "kubernetes-models/apps/v1";
import { Job } from "kubernetes-models/batch/v1";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Namespace, Service, ServiceAccount } from "kubernetes-models/v1";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { guidePages } from "../apps/server/src/api/openapi/page/read-docs-files.ts";
import { processNames } from "../apps/server/src/config/process-name.ts";
import { secretNames } from "../apps/server/src/config/secrets.ts";

// Cheap checks of the files with which operators start the service. e2e/image builds the image and starts it.

const deploy = join(import.meta.dirname, "../deploy");
const read = (path: string) => readFileSync(join(deploy, path), "utf8");

describe("the image", () => {
	const dockerfile = read("Dockerfile");
	const stages = dockerfile.split(/^(?=FROM )/m).slice(1);

	test("every stage starts from BASE_IMAGE, from another stage or from nothing", () => {
		const names = stages.map((stage) => /^FROM \S+ AS (\S+)/.exec(stage)?.[1]);
		const sources = stages.map((stage) => /^FROM (\S+)/.exec(stage)?.[1] ?? "");
		const known = new Set(["scratch", ...names]);
		const bases = sources.filter((source) => !known.has(source));
		expect(new Set(bases)).toEqual(new Set([`$\{BASE_IMAGE}`]));
		expect(names).toEqual(expect.arrayContaining(["geoswapd", "devnet", "sbom"]));
	});

	test("the default target starts from scratch, runs as an unprivileged user, and has a health check", () => {
		const last = stages.at(-1) ?? "";
		expect(last).toMatch(/^FROM scratch AS geoswapd\n/);
		expect(last).toMatch(/^USER 65532:65532$/m);
		expect(last).toMatch(/^HEALTHCHECK .* CMD \["geoswapd", "health", "--ready"\]$/m);
		expect(last).toMatch(/^ENTRYPOINT \["geoswapd"\]$/m);
		expect(last).toContain("sbom.cdx.json");
		for (const label of ["title", "licenses", "version", "revision", "source", "base.name"]) {
			expect(last).toContain(`org.opencontainers.image.${label}=`);
		}
	});

	test("the image of the remote signer contains only its own packages, runs as an unprivileged user, and has a health check", () => {
		const signer = stages.find((stage) => stage.startsWith("FROM scratch AS geoswap-signer\n")) ?? "";
		expect(signer).toMatch(/^USER 65532:65532$/m);
		expect(signer).toMatch(/^HEALTHCHECK .* CMD \["geoswap-signer", "health"\]$/m);
		expect(signer).toMatch(/^ENTRYPOINT \["geoswap-signer"\]$/m);
		expect(signer.match(/--from=\S+/g)).toEqual([
			"--from=root",
			"--from=signer-packages",
			"--from=signer-packages",
			"--from=signer-packages",
		]);
		const packages = stages.find((stage) => stage.startsWith("FROM pnpm AS signer-packages\n")) ?? "";
		const removed = ["apps/server", "contracts", "packages/sdk", "packages/cli", "docs"];
		expect(
			removed.filter((folder) => !packages.includes(` ${folder} `) && !packages.includes(`\t${folder} `)),
		).toEqual([]);
	});

	test.each(["server", "signer"])("every module of the %s can be loaded, as the build does", (name) => {
		const args = [join(deploy, "load-every-module.ts"), name];
		const loaded = spawnSync(process.execPath, args, { encoding: "utf8" });
		expect({ status: loaded.status, said: loaded.stderr }).toEqual({ status: 0, said: "" });
	});

	test("the build gets every page that the API serves", () => {
		const ignored = readFileSync(join(deploy, "../.dockerignore"), "utf8").split("\n");
		const pages = ["api", ...guidePages].map((page) => `!docs/${page}.md`);
		const others = ["!docs/errors", "!docs/README.md", "!packages/cli/skills"];
		expect([...pages, ...others].filter((line) => !ignored.includes(line))).toEqual([]);
		const [, removed = ""] = /rm -rf node_modules\/\.pnpm ([\s\S]*?) \\\n\t&&/.exec(dockerfile) ?? [];
		const isRead = (path: string) =>
			/^(docs|packages\/cli\/skills)(\/|$)/.test(path) || "packages/cli/skills".startsWith(`${path}/`);
		expect(removed).toContain("packages/cli/src");
		expect(removed.split(/[\s\\]+/).filter(isRead)).toEqual([]);
	});

	test("the build installs the version of pnpm that .ci/run installs", () => {
		const [, version] = /^ARG PNPM_VERSION=(.+)$/m.exec(dockerfile) ?? [];
		expect(readFileSync(join(import.meta.dirname, "run"), "utf8")).toContain(`pnpm@${version}`);
	});

	test("the build gets every package of the workspace that server and signer need", () => {
		const ignored = readFileSync(join(deploy, "../.dockerignore"), "utf8").split("\n");
		const folders = new Map(
			globSync("{apps,packages}/*/package.json", { cwd: join(deploy, "..") })
				.concat("contracts/package.json", "devnet/package.json")
				.map((path) => {
					const manifest = JSON.parse(readFileSync(join(deploy, "..", path), "utf8"));
					return [manifest.name, { path, manifest }] as const;
				}),
		);
		const needed = new Set<string>();
		const need = (name: string) => {
			const found = folders.get(name);
			if (!found || needed.has(found.path)) return;
			needed.add(found.path);
			for (const other of Object.keys(found.manifest.dependencies ?? {})) need(other);
		};
		need("@geoswap/server");
		need("@geoswap/signer");
		need("@geoswap/devnet");
		expect([...needed].filter((path) => !ignored.includes(`!${path}`))).toEqual([]);
	});
});

type ComposeService = {
	image: string;
	user?: string;
	command?: string[];
	read_only?: boolean;
	cap_drop?: string[];
	security_opt?: string[];
	restart?: string;
	healthcheck?: unknown;
	networks: string[];
	secrets?: string[];
	environment?: Record<string, string>;
	depends_on?: unknown;
};
type Compose = {
	services: Record<string, ComposeService>;
	networks: Record<string, { internal?: boolean }>;
	secrets?: Record<string, { file: string }>;
};
const readCompose = (name: string): Compose => parse(read(`compose/${name}`), { merge: true });

describe.each(["first-try.yaml", "small-host.yaml", "signer.yaml"])("deploy/compose/%s", (name) => {
	const compose = readCompose(name);
	const services = Object.entries(compose.services);

	test.each(services)("%s can write only its data, has no privileges, and is restarted", (_, service) => {
		expect(service).toMatchObject({
			read_only: true,
			cap_drop: ["ALL"],
			security_opt: ["no-new-privileges:true"],
			user: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
		});
		const isOnce = ["check", "config"].includes(service.command?.[0] ?? "");
		expect(service.restart).toMatch(isOnce ? /^no$/ : /^(unless-stopped|on-failure)$/);
	});

	test.each(services)(
		"%s has a health check, either its own or the one of our image",
		(_, { image, healthcheck }) => {
			expect(image.includes("GEOSWAP_") || healthcheck !== undefined).toBe(true);
		},
	);

	test("every secret and network that is used is defined, and every one that is defined is used", () => {
		const used = (part: "networks" | "secrets") =>
			[...new Set(services.flatMap(([, service]) => service[part] ?? []))].sort();
		expect(used("networks")).toEqual(Object.keys(compose.networks).sort());
		expect(used("secrets")).toEqual(Object.keys(compose.secrets ?? {}).sort());
	});

	test.each(services)(
		"%s reads its secrets from files, and each of its files is named by a variable",
		(_, service) => {
			const { environment = {}, secrets = [] } = service;
			const files = Object.entries(environment).filter(([variable]) => variable.endsWith("_FILE"));
			const named = files.map(([, path]) => basename(path));
			expect(named.filter((file) => !secrets.includes(file))).toEqual([]);
			// The processes' own files contain the names of certificates and of the file with the keystores' password.
			const isNamedInFile = (file: string) => file.endsWith(".pem") || file === "keystore-password";
			expect(secrets.filter((file) => !named.includes(file) && !isNamedInFile(file))).toEqual([]);
		},
	);
});

describe("on a small host", () => {
	const { services, networks } = readCompose("small-host.yaml");
	const neighbours = (name: string) => {
		const own = services[name]?.networks ?? [];
		return Object.keys(services).filter(
			(other) => other !== name && services[other]?.networks.some((network) => own.includes(network)),
		);
	};

	test("nothing that a caller reaches shares a network with a worker", () => {
		const near = ["attester", "console", "migrate", "postgres", "restate"];
		expect(neighbours("audit").sort()).toEqual(["console", "postgres"]);
		expect(neighbours("worker-1").sort()).toEqual([...near, "worker-2"]);
		expect(neighbours("tls")).toEqual(["api-1", "api-2"]);
		expect(neighbours("redis")).toEqual(["api-1", "api-2", "postgres"]);
	});

	test("databases and the engine have no network access beyond the host", () => {
		for (const name of ["postgres", "redis", "restate", "migrate"]) {
			const open = services[name]?.networks.filter((network) => !networks[network]?.internal);
			expect(open, name).toEqual([]);
		}
	});

	test("HAProxy is configured as in deploy/haproxy.cfg, but for TLS, names and addresses", () => {
		const lines = (path: string) => {
			const text = read(path)
				.replace(/^#.*\n/gm, "")
				.replace(/^resolvers (.*\n)(\t.*\n)*/m, "");
			return text
				.split("\n")
				.filter((line) => line && !/^\t(server|bind|ssl-default|default-server)|^\t# Clients of/.test(line));
		};
		expect(lines("compose/haproxy.cfg")).toEqual(lines("haproxy.cfg"));
	});
});

test("the scripts have valid syntax, print a usage text, and exit with 2 for a wrong option", () => {
	for (const script of ["offline/build-images", "compose/new-secrets", "compose/upgrade"]) {
		const path = join(deploy, script);
		execFileSync("bash", ["-n", path]);
		expect(execFileSync("bash", [path, "--help"], { encoding: "utf8" }), script).toMatch(/^Usage: /);
		expect(spawnSync("bash", [path, "--wrong", "option"]).status, script).toBe(2);
	}
});

test("a swap without a registry takes five commands at most, with the images that are built for it", () => {
	const page = readFileSync(join(deploy, "../docs/install.md"), "utf8");
	const [, block = ""] = /^## A machine that reaches no registry\n.*?```sh\n(.+?)\n```/ms.exec(page) ?? [];
	const commands = block.replaceAll("\\\n", "").split("\n");
	expect(commands.length).toBeLessThanOrEqual(5);
	expect(commands.at(-1)).toMatch(/ first-swap$/);
	const images = block.match(/localhost\/[\w-]+:[\w.]+/g) ?? [];
	expect(images).toHaveLength(5);
	for (const image of images) expect(read("offline/build-images")).toContain(image);
});

describe("the units of systemd", () => {
	const units = globSync("systemd/*.service", { cwd: deploy });

	test.each(units)("%s is hardened, and receives its secrets as credentials", (path) => {
		const unit = read(path);
		for (const line of ["ProtectSystem=strict", "NoNewPrivileges=yes", "DynamicUser=yes", "PrivateTmp=yes"]) {
			expect(unit.split("\n")).toContain(line);
		}
		const credentials = [...unit.matchAll(/^LoadCredential=([^:]+):/gm)].map(([, name]) => name);
		const files = [...unit.matchAll(/^Environment=\w+_FILE=%d\/(.+)$/gm)].map(([, name]) => name);
		// The signer's own file contains the names of its certificates.
		const named = path.endsWith("geoswap-signer.service")
			? ["ca.pem", "server.pem", "server-key.pem"]
			: files;
		expect(named).toEqual(credentials);
	});

	test("systemd finds no mistake in the units, and rates their exposure as low", () => {
		const folder = mkdtempSync(join(tmpdir(), "geoswap-units-"));
		try {
			const files = units.map((path) => {
				// The programs are not installed where tests run, and a template is read as one of its instances.
				const file = join(folder, basename(path).replace("@.", "@1."));
				writeFileSync(file, read(path).replaceAll(/\/usr\/local\/bin\/[a-z-]+/g, "/bin/true"));
				return file;
			});
			const verified = spawnSync("systemd-analyze", ["verify", ...files], { encoding: "utf8" });
			expect({ status: verified.status, said: verified.stderr }).toEqual({ status: 0, said: "" });
			const security = ["security", "--offline=true", "--threshold=15", "--no-pager", ...files];
			expect(spawnSync("systemd-analyze", security).status).toBe(0);
		} finally {
			rmSync(folder, { recursive: true });
		}
	});
});

describe("the manifests of Kubernetes", () => {
	const kinds = {
		Deployment,
		StatefulSet,
		Job,
		NetworkPolicy,
		PodDisruptionBudget,
		Namespace,
		Service,
		ServiceAccount,
	};
	// biome-ignore lint/suspicious/noExplicitAny: the models check the shape.
	type Manifest = any;
	const folders = ["kubernetes/base", "kubernetes/example", "kubernetes/signer"];
	const files = folders.flatMap((folder) => globSync(`${folder}/*.yaml`, { cwd: deploy }));
	const manifests: Manifest[] = files
		.filter((path) => basename(path) !== "kustomization.yaml")
		.flatMap((path) => parseAllDocuments(read(path)).map((document) => document.toJS()));

	test.each(manifests.map((manifest) => [manifest.kind, manifest.metadata.name, manifest]))(
		"%s %s is valid by the Kubernetes schema",
		(kind, _, manifest) => {
			const Model = kinds[kind as keyof typeof kinds];
			new Model(manifest).validate();
			expect({ apiVersion: Model.apiVersion, kind: Model.kind }).toEqual({
				apiVersion: manifest.apiVersion,
				kind,
			});
		},
	);

	test.each(folders)("kustomization.yaml of %s names every other file", (folder) => {
		const { resources, configMapGenerator = [] } = parse(read(`${folder}/kustomization.yaml`));
		const named = [...resources, ...configMapGenerator.flatMap((one: { files: string[] }) => one.files)];
		const there = globSync(`${folder}/*`, { cwd: deploy }).map((path) => basename(path));
		expect(there.filter((name) => name !== "kustomization.yaml" && !named.includes(name))).toEqual([]);
		expect(named.filter((name: string) => name !== "../base" && !there.includes(name))).toEqual([]);
	});

	const pods = manifests.filter(({ spec }) => spec?.template);
	test.each(pods.map((manifest) => [manifest.metadata.name, manifest.spec.template.spec]))(
		"%s runs without privileges, and nothing can write to its image",
		(_, pod) => {
			expect(pod.securityContext).toMatchObject({
				runAsNonRoot: true,
				seccompProfile: { type: "RuntimeDefault" },
			});
			expect(pod.automountServiceAccountToken).toBe(false);
			for (const container of [...(pod.initContainers ?? []), ...pod.containers]) {
				expect(container.securityContext).toEqual({
					allowPrivilegeEscalation: false,
					readOnlyRootFilesystem: true,
					capabilities: { drop: ["ALL"] },
				});
				expect(container.resources.limits.memory).toBeDefined();
			}
		},
	);

	test.each(processNames)(
		"%s has a startup probe, a liveness probe, and a check of its configuration before it starts",
		(name) => {
			const pod = pods.find(({ metadata }) => metadata.name === name).spec.template.spec;
			expect(pod.containers[0]).toMatchObject({ startupProbe: {}, livenessProbe: {} });
			expect(pod.initContainers[0].args).toEqual(
				expect.arrayContaining(["config", "check", "--offline", name]),
			);
		},
	);

	test("the signer has a startup probe, a liveness probe, and a check of its configuration before it starts", () => {
		const pod = pods.find(({ metadata }) => metadata.name === "signer").spec.template.spec;
		expect(pod.containers[0]).toMatchObject({ startupProbe: {}, livenessProbe: {} });
		expect(pod.initContainers[0].args).toEqual(["check", "--offline"]);
	});

	test("the API, the attester and the worker have a disruption budget, because a swap needs at least one of each", () => {
		const budgets = manifests.filter(({ kind }) => kind === "PodDisruptionBudget");
		expect(budgets.map(({ metadata }) => metadata.name).sort()).toEqual(["api", "attester", "worker"]);
	});

	test("only the engine, workers and the console reach workers, only workers reach attesters, only the console reaches the audit, and no pod the console", () => {
		const callers = (name: string) => {
			const policy = manifests.find(
				({ kind, metadata }) => kind === "NetworkPolicy" && metadata.name === name,
			);
			return (policy.spec.ingress ?? []).flatMap(({ from, ports }: Manifest) =>
				from.map((peer: Manifest) => {
					const name = peer.podSelector?.matchLabels["app.kubernetes.io/name"];
					return `${name} at ${ports.map(({ port }: Manifest) => port)}`;
				}),
			);
		};
		expect(callers("worker")).toEqual(["restate at 9080", "worker at 9080", "console at 8711"]);
		expect(callers("audit")).toEqual(["console at 8712"]);
		expect(callers("console")).toEqual([]);
		expect(callers("attester")).toEqual(["worker at 9100"]);
		const denied = manifests.find(({ metadata }) => metadata.name === "default-deny");
		expect(denied.spec).toEqual({
			podSelector: { matchLabels: { "app.kubernetes.io/part-of": "geoswap" } },
			policyTypes: ["Ingress", "Egress"],
		});
	});

	test("Restate has the same configuration as on a small host", () => {
		expect(read("kubernetes/example/restate.toml")).toBe(read("compose/restate.toml"));
	});
});

describe("the secrets of each process", () => {
	const { services } = readCompose("small-host.yaml");
	const unitOf = (name: string) =>
		read(globSync(`systemd/geoswapd-${name}{,@}.service`, { cwd: deploy })[0] ?? "");
	const containersOf = (name: string): { env?: { name: string }[] }[] => {
		const [workload] = parseAllDocuments(read(`kubernetes/base/${name}.yaml`)).map((one) => one.toJS());
		const { initContainers = [], containers } = workload.spec.template.spec;
		return [...initContainers, ...containers];
	};
	const secretsOf = (variables: readonly string[]) =>
		variables.flatMap((name) => (name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : [])).sort();
	const compose = (name: string) => secretsOf(Object.keys(services[name]?.environment ?? {}));
	const processes = {
		api: "api-1",
		worker: "worker-1",
		audit: "audit",
		attester: "attester",
		console: "console",
		migrate: "migrate",
	};

	test.each(Object.entries(processes))(
		"%s has the same secrets in compose, Kubernetes and systemd",
		(name, service) => {
			const variables = [...unitOf(name).matchAll(/^Environment=(\w+)=/gm)].map(
				([, variable]) => variable ?? "",
			);
			expect(secretsOf(variables)).toEqual(compose(service));
			for (const { env = [] } of containersOf(name)) {
				expect(secretsOf(env.map((variable) => variable.name))).toEqual(compose(service));
			}
		},
	);

	test("every secret in the service's list is given to a process, except for the optional keys of external services", () => {
		const given = new Set(Object.values(processes).flatMap(compose));
		expect(secretNames.filter((name) => !given.has(name))).toEqual([
			"GEOSWAP_QUOTER_KEY",
			"GEOSWAP_PYTH_KEY",
			"GEOSWAP_DENY_TOKEN",
		]);
	});
});
