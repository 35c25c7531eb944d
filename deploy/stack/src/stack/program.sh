# What supervisord runs for a program, in the data folder: reads its settings, then becomes what COMMAND says.
# overrides/ wins over settings/, and the file of one copy (gateway-0) over that of all copies (gateway).
set -ae
for file in "settings/$SUPERVISOR_GROUP_NAME" "settings/$SUPERVISOR_PROCESS_NAME" \
    "overrides/$SUPERVISOR_GROUP_NAME" "overrides/$SUPERVISOR_PROCESS_NAME"; do
    if [ -f "./$file.env" ]; then . "./$file.env"; fi
done
eval "exec $COMMAND"
