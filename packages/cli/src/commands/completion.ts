import type { Command } from "commander";

type Shell = "bash" | "zsh" | "fish";

type Word = { name: string; description: string };
type Words = { commands: Word[]; options: Word[]; optionsOf: Map<string, Word[]> };

/** Returns the script that completes the program's commands and options in a shell. */
export function completionScript(program: Command, shell: Shell): string {
	const options = (command: Command): Word[] => [
		...command.options.map(({ long, description }) => ({ name: long ?? "", description })),
		{ name: "--help", description: "display help for command" },
	];
	const words: Words = {
		commands: program.commands.map((command) => ({
			name: command.name(),
			description: command.description(),
		})),
		options: options(program),
		optionsOf: new Map(program.commands.map((command) => [command.name(), options(command)])),
	};
	return scripts[shell](words);
}

const names = (words: Word[]) => words.map(({ name }) => name).join(" ");
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const scripts: Record<Shell, (words: Words) => string> = {
	bash: ({ commands, options, optionsOf }) => `# Put this into ~/.bashrc: eval "$(geoswap completion bash)"
_geoswap() {
	local words="${names([...commands, ...options])}"
	if [ "$COMP_CWORD" -gt 1 ]; then
		case "\${COMP_WORDS[1]}" in
${[...optionsOf].map(([name, own]) => `			${name}) words="${names(own)}" ;;`).join("\n")}
		esac
	fi
	COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _geoswap geoswap
`,
	zsh: ({ commands, options, optionsOf }) => `#compdef geoswap
# Put this into ~/.zshrc, after compinit: eval "$(geoswap completion zsh)"
_geoswap() {
	local command=$words[2]
	local -a choices
	if (( CURRENT == 2 )); then
		choices=(${described([...commands, ...options])})
	else
		case $command in
${[...optionsOf].map(([name, own]) => `			${name}) choices=(${described(own)}) ;;`).join("\n")}
		esac
	fi
	_describe geoswap choices || _files
}
compdef _geoswap geoswap
`,
	fish: ({ commands, options, optionsOf }) =>
		[
			"# Put this into ~/.config/fish/config.fish: geoswap completion fish | source",
			...commands.map(
				({ name, description }) =>
					`complete -c geoswap -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
			),
			...options.map((option) => fishOption("__fish_use_subcommand", option)),
			...[...optionsOf].flatMap(([name, own]) =>
				own.map((option) => fishOption(`'__fish_seen_subcommand_from ${name}'`, option)),
			),
			"",
		].join("\n"),
};

function fishOption(condition: string, { name, description }: Word): string {
	return `complete -c geoswap -n ${condition} -l ${name.slice(2)} -d ${quoted(description)}`;
}

/** Returns the words as zsh's `_describe` takes them. */
function described(words: Word[]): string {
	return words
		.map(({ name, description }) => quoted(`${name.replaceAll(":", "\\:")}:${description}`))
		.join(" ");
}
