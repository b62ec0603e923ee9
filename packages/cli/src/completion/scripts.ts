/** What a shell runs to complete the words of `convoke`. It asks `convoke __complete`, so it need not change with a release. */
export const completionScripts = {
  bash: `# eval "$(convoke completion bash)"
_convoke() {
  local IFS=$'\\n'
  COMPREPLY=($(convoke __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _convoke convoke
`,
  zsh: `#compdef convoke
# eval "$(convoke completion zsh)"
_convoke() {
  local line
  local -a found
  for line in "\${(@f)$(convoke __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( $#found )); then _describe convoke found; else _files; fi
}
compdef _convoke convoke
`,
  fish: `# convoke completion fish | source
function __convoke_complete
  set -l found (convoke __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c convoke -f -a '(__convoke_complete)'
`,
} as const;
